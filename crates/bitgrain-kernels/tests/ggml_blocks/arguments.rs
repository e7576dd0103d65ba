//! Wrong sizes are typed errors with the required size.

use bitgrain_kernels::ggml::{GgmlBlock, dequantize_ggml, quantize_ggml};
use bitgrain_kernels::{Backend, KernelError};

#[test]
fn sizes_that_do_not_fit_are_rejected() {
    for &backend in Backend::available() {
        for block in GgmlBlock::ALL {
            let (weights, bytes) = (block.weights(), block.bytes());
            let values = vec![1.0; 6 * weights];
            let quantize = |count: usize, row: usize, room: usize| {
                quantize_ggml(backend, block, &values[..count], row, None, &mut vec![0; room])
            };
            let ragged = |len| Err(KernelError::RaggedBlocks { len, block: weights });
            assert_eq!(quantize(weights, 0, bytes), ragged(0));
            assert_eq!(quantize(weights, weights - 1, bytes), ragged(weights - 1));
            assert_eq!(quantize(3 * weights, 2 * weights, 3 * bytes), ragged(2 * weights));
            let small = Err(KernelError::OutputTooSmall { required: 6 * bytes });
            assert_eq!(quantize(6 * weights, 3 * weights, 6 * bytes - 1), small);
            assert_eq!(quantize(0, weights, 0), Ok(0));

            let blocks = vec![0; 6 * bytes];
            let dequantize =
                |len: usize, count: usize| dequantize_ggml(backend, block, &blocks[..len], &mut vec![0.0; count]);
            assert_eq!(dequantize(6 * bytes, weights + 1), ragged(weights + 1));
            let small = Err(KernelError::InputTooSmall { required: 6 * bytes });
            assert_eq!(dequantize(6 * bytes - 1, 6 * weights), small);
            assert_eq!(dequantize(6 * bytes, 2 * weights), Ok(2 * bytes), "what follows is not its business");
            assert_eq!(dequantize(0, 0), Ok(0));
        }
    }
}

#[test]
fn importances_are_one_per_column() {
    for block in GgmlBlock::ALL {
        let row = 2 * block.weights();
        let values = vec![1.0; 2 * row];
        let mut out = vec![0; 4 * block.bytes()];
        let short = vec![1.0; row - 1];
        let got = quantize_ggml(Backend::best(), block, &values, row, Some(&short), &mut out);
        if block.uses_importance() {
            assert_eq!(got, Err(KernelError::InputTooSmall { required: row }), "{block:?}");
        } else {
            assert_eq!(got, Ok(out.len()), "{block:?} ignores them");
        }
    }
}
