//! Encoding of four blocks of 64 values together.
//!
//! A block's scale depends on its maximum, and its codes on its scale: about seventy cycles in which the scheduler
//! fills up with instructions that cannot run yet. Reducing four maxima together and dividing twice for four blocks
//! lets the next four start in the meantime, which is a third faster in cache.

use core::arch::x86_64::*;

use super::divisor::Divisor;

/// Blocks encoded together.
pub(super) type Four = [[f32; 64]; 4];

/// Computes scales and divisors of four blocks from the bits of their maxima; `None` if one of them is zero, not finite
/// or not suited for fixed-point division.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn divisors(max_bits: __m128i, qmax: u8) -> Option<[Divisor; 4]> {
    let max_abs = _mm_castsi128_ps(max_bits);
    let scale = _mm_div_ps(max_abs, _mm_set1_ps(f32::from(qmax)));
    // Comparisons with NaN are false, so non-finite values fail here too.
    let ordinary =
        _mm_and_ps(_mm_cmpge_ps(scale, _mm_set1_ps(Divisor::LEAST)), _mm_cmplt_ps(scale, _mm_set1_ps(Divisor::MOST)));
    if _mm_movemask_ps(ordinary) != 0b1111 {
        return None;
    }
    let factor = _mm_div_ps(_mm_set1_ps(Divisor::ONE), scale);
    let (mut scales, mut factors) = ([0.0; 4], [0.0; 4]);
    // SAFETY: `scales` is `[f32; 4]`, 16 writable bytes; `storeu` needs no alignment.
    unsafe { _mm_storeu_ps(scales.as_mut_ptr(), scale) };
    // SAFETY: `factors` is `[f32; 4]`, 16 writable bytes; `storeu` needs no alignment.
    unsafe { _mm_storeu_ps(factors.as_mut_ptr(), factor) };
    Some(core::array::from_fn(|i| Divisor { scale: scales[i], factor: Some(factors[i]) }))
}

/// Encodes a run of blocks with the `max_bits_of_four` and `encode_block` in scope at the expansion, and the remainder
/// with `encode_walk!`: other block lengths, unusual blocks and the end. `$slack` is the number of bytes that
/// `encode_block` may write after its block.
macro_rules! encode_fours {
    ($w:ident, $block:expr, $values:expr, $out:expr, $slack:expr) => {{
        let stride = $crate::width::SCALE_LEN + 8 * $w as usize;
        let mut done = 0;
        if $block == 64 {
            for four in $values.as_chunks::<64>().0.as_chunks::<4>().0 {
                let out = &mut $out[done * stride..];
                if out.len() < 4 * stride + $slack {
                    break;
                }
                for block in four {
                    prefetch_ahead(block);
                }
                let qmax: u8 = (1 << ($w - 1)) - 1;
                match $crate::x86_64::fours::divisors(max_bits_of_four(four), qmax) {
                    Some(divisors) => {
                        for (i, (block, divisor)) in four.iter().zip(divisors).enumerate() {
                            let (head, codes) = out[i * stride..].split_at_mut($crate::width::SCALE_LEN);
                            head.copy_from_slice(&divisor.scale.to_le_bytes());
                            encode_block::<$w>(block, divisor, codes);
                        }
                    }
                    None => walk::<$w>(64, four.as_flattened(), &mut out[..4 * stride])
                        .map_err(|index| $crate::KernelError::NonFinite { index: done * 64 + index })?,
                }
                done += 4;
            }
        }
        walk::<$w>($block, &$values[done * 64..], &mut $out[done * stride..])
            .map_err(|index| $crate::KernelError::NonFinite { index: done * 64 + index })
    }};
}

pub(super) use encode_fours;
