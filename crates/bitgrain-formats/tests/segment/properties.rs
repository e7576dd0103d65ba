//! Round trips of random records.

use bitgrain_codec::{BitWidth, BlockFormat, BlockLen};
use bitgrain_formats::segment::*;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::read_sealed;

/// An owned id.
#[derive(Debug, Clone)]
enum Id {
    Name(String),
    Number(u128),
}

impl Id {
    fn get(&self) -> IdRef<'_> {
        match self {
            Self::Name(name) => IdRef::Name(name),
            Self::Number(number) => IdRef::Number(*number),
        }
    }
}

fn ids() -> impl Strategy<Value = Id> {
    prop_oneof![
        "\\PC{1,40}".prop_map(Id::Name),
        "layer/[0-9]{1,3}/weight".prop_map(Id::Name),
        any::<u128>().prop_map(Id::Number),
        (0..1000u128).prop_map(Id::Number),
    ]
}

fn bounds() -> impl Strategy<Value = f32> {
    prop_oneof![Just(0.0), Just(f32::MAX), Just(1e-45), 0.0f32..10.0]
}

fn accuracies() -> impl Strategy<Value = Accuracy> {
    (bounds(), 0.0f32..=1.0).prop_map(|(bound, share)| Accuracy::new(bound, bound * share))
}

fn formats() -> impl Strategy<Value = BlockFormat> {
    (0..=BitWidth::ALL.len(), 1..=8192usize).prop_map(|(width, eights)| {
        let format = BitWidth::ALL.get(width).map_or_else(BlockFormat::two_level, |&width| BlockFormat::new(width));
        format.with_block_len(BlockLen::new(eights * 8).expect("in range"))
    })
}

fn shapes() -> impl Strategy<Value = Vec<usize>> {
    vec(0..6usize, 0..5)
}

/// Mostly near the base of a segment, sometimes anywhere.
fn times() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 5_000..6_000u64, 1 => any::<u64>()]
}

fn stamps() -> impl Strategy<Value = Stamp> {
    (times(), any::<u32>(), any::<Option<u64>>(), times()).prop_map(|(sequence, batch_left, pending, time)| Stamp {
        sequence,
        batch_left,
        pending,
        time,
    })
}

/// Scale, length of the permutation, rows and columns of the projection.
type Factor = (f32, Option<usize>, Option<(usize, usize)>);

/// The fields of every kind of record, with the data they borrow.
#[derive(Debug, Clone)]
struct Made {
    stamp: Stamp,
    id: Id,
    other: Id,
    user: Vec<(String, String)>,
    kind: u8,
    shape: Vec<usize>,
    tier: u8,
    encoding: Encoding,
    accuracy: Accuracy,
    times: (u64, u64),
    limits: (Option<u8>, Option<f32>),
    policy: Option<Result<BlockFormat, Factor>>,
    frame: (u64, u64, u64, bool),
    seed: u8,
}

fn made() -> impl Strategy<Value = Made> {
    let encodings = prop_oneof![
        Just(Encoding::Raw),
        Just(Encoding::Half),
        formats().prop_map(Encoding::Blocks),
        Just(Encoding::Absent),
        Just(Encoding::Frames)
    ];
    let factor = (-2.0f32..2.0, proptest::option::of(0..50usize), proptest::option::of((0..7usize, 0..7usize)));
    let policy = proptest::option::of(prop_oneof![formats().prop_map(Ok), factor.prop_map(Err)]);
    let head = (stamps(), ids(), ids(), vec(("\\PC{0,9}", "\\PC{0,9}"), 0..3), 0..8u8);
    let tensor = (shapes(), 0..=8u8, encodings, accuracies(), (times(), times()));
    let limits = (proptest::option::of(0..=8u8), proptest::option::of(bounds()));
    let frame = (2..1000u64, 1..=2u64, 1..=2u64, any::<bool>());
    (head, tensor, limits, policy, frame, any::<u8>()).prop_map(|(head, tensor, limits, policy, frame, seed)| {
        let (stamp, id, other, user, kind) = head;
        let (shape, tier, encoding, accuracy, times) = tensor;
        Made { stamp, id, other, user, kind, shape, tier, encoding, accuracy, times, limits, policy, frame, seed }
    })
}

impl Made {
    fn head(&self) -> Head<'_> {
        let content = match self.kind {
            0..4 => Content::Tensor(self.id.get(), self.tensor()),
            4..6 => Content::Frame(self.id.get(), self.frame()),
            6 => Content::Delete(self.id.get()),
            _ => Content::Usage,
        };
        Head { stamp: self.stamp, content }
    }

    fn tensor(&self) -> TensorHead<'_> {
        let reconstruct = self.policy.map(|policy| match policy {
            Ok(format) => Reconstruct::Delta { base: self.other.get(), format },
            Err((scale, permutation, projection)) => {
                Reconstruct::Factor { source: self.other.get(), scale, permutation, projection }
            }
        });
        TensorHead {
            shape: self.shape.clone(),
            tier: self.tier,
            encoding: self.encoding,
            accuracy: self.accuracy,
            created: self.times.0,
            updated: self.times.1,
            pinned: self.limits.0,
            max_error: self.limits.1,
            user: self.user.iter().map(|(key, value)| (&key[..], &value[..])).collect(),
            reconstruct,
        }
    }

    fn frame(&self) -> FrameHead {
        let (index, key, base, wide) = self.frame;
        let (key, base) = (index - key, index - base);
        let raw = self.seed.is_multiple_of(5);
        let role = match self.seed % 4 {
            _ if raw => Role::Key,
            0 => Role::Key,
            1 => Role::Shared { key },
            2 => Role::DifferenceKey { base },
            _ => Role::DifferenceShared { key, base },
        };
        FrameHead {
            index,
            role,
            shape: self.shape.clone(),
            tier: self.tier,
            values: match self.seed {
                seed if seed.is_multiple_of(20) => FrameValues::Absent,
                seed if seed.is_multiple_of(10) => FrameValues::Half,
                _ if raw => FrameValues::Raw,
                seed => FrameValues::Codes(BitWidth::ALL[usize::from(seed) % BitWidth::ALL.len()]),
            },
            block: if raw {
                BlockLen::DEFAULT
            } else {
                BlockLen::new(8 * (1 + usize::from(self.seed))).expect("in range")
            },
            scales: if wide && !raw { ScaleType::F32 } else { ScaleType::F16 },
            accuracy: self.accuracy,
            time: self.times.0,
            rewritten: self.stamp.sequence.checked_sub(1 + u64::from(self.seed)).filter(|_| self.seed % 3 == 1),
        }
    }

    fn body(&self) -> Vec<u8> {
        let len = match self.head().content {
            Content::Tensor(_, tensor) => tensor.parts().expect("small").projection.end,
            Content::Frame(_, frame) => frame.body_len(),
            Content::Delete(_) => 0,
            Content::Usage => usize::from(self.seed) * 700,
        };
        (0..len).map(|i| (i as u8).wrapping_mul(31) ^ self.seed).collect()
    }
}

const HEADER: SegmentHeader = SegmentHeader {
    kind: SegmentKind::Compacted,
    store: [3; 16],
    number: u64::MAX,
    previous: 0,
    base_sequence: 5000,
    base_time: 5000,
};

proptest! {
    #[test]
    fn headers_round_trip(store: [u8; 16], numbers: [u64; 4], log: bool) {
        let [number, previous, base_sequence, base_time] = numbers;
        let kind = if log { SegmentKind::Log } else { SegmentKind::Compacted };
        let header = SegmentHeader { kind, store, number, previous, base_sequence, base_time };
        prop_assert_eq!(SegmentHeader::parse(&header.encode()), Ok(header));
    }

    #[test]
    fn sealed_segments_round_trip(made in vec(made(), 0..12)) {
        let mut bytes = HEADER.encode().to_vec();
        let mut index = IndexBuilder::new(&HEADER);
        for made in &made {
            let len = write_record(&mut bytes, &HEADER, &made.head(), &made.body()).expect("a good record");
            index.push(&made.head(), len as u64).expect("a good record");
        }
        bytes.extend(index.finish(&HEADER));
        let read = read_sealed(&bytes).expect("what was just written");
        prop_assert_eq!(read.len(), made.len());
        for ((_, head, body), made) in read.iter().zip(&made) {
            prop_assert_eq!(head, &format!("{:?}", made.head()));
            prop_assert_eq!(body, &made.body());
        }
    }

    #[test]
    fn the_parts_of_a_body_are_contiguous(made in made()) {
        let tensor = made.tensor();
        let BodyParts { data, delta, permutation, projection } = tensor.parts().expect("small");
        prop_assert_eq!((data.start, data.end, delta.end), (0, delta.start, permutation.start));
        prop_assert_eq!(permutation.end, projection.start);
        prop_assert_eq!(tensor.count(), tensor.shape.iter().product::<usize>());
    }

    #[test]
    fn usage_and_wanted_tiers_round_trip(
        uses in vec((ids(), any::<u64>(), times(), any::<u64>(), 0..=32_768u16), 0..20),
        wanted_tiers in vec((ids(), 0..=8u8), 0..10),
        last_downgrade in proptest::option::of(times()),
        groups in vec(any::<u64>(), 0..20),
    ) {
        let mut list = UsageList::default();
        let entries: Vec<_> = uses
            .iter()
            .map(|(id, accesses, last, window, ema)| UsageEntry {
                id: id.get(), accesses: *accesses, last: *last, window: *window, ema: f32::from(*ema) / 32_768.0,
            })
            .collect();
        for entry in &entries {
            list.push(entry).expect("a good entry");
        }
        for (id, tier) in &wanted_tiers {
            list.push_wanted_tier(&WantedTierEntry { id: id.get(), tier: *tier }).expect("a valid tier");
        }
        for (entry, group) in entries.iter().zip(&groups) {
            list.push_frames(&FrameUsageEntry { group: *group, usage: *entry }).expect("a good entry");
        }
        list.set_last_downgrade(last_downgrade);
        let body = list.into_bytes();
        let mut read = UsageEntries::new(&body);
        for entry in &entries {
            prop_assert_eq!(read.next(), Ok(Some(*entry)));
        }
        prop_assert_eq!(read.next(), Ok(None));
        let mut frames = read.into_frame_usage().expect("a good list");
        for (entry, group) in entries.iter().zip(&groups) {
            prop_assert_eq!(frames.next(), Ok(Some(FrameUsageEntry { group: *group, usage: *entry })));
        }
        prop_assert_eq!(frames.next(), Ok(None));
        let mut tail = frames.into_wanted_tiers().expect("a good list");
        prop_assert_eq!(tail.last_downgrade, last_downgrade);
        for (id, tier) in &wanted_tiers {
            prop_assert_eq!(tail.next(), Ok(Some(WantedTierEntry { id: id.get(), tier: *tier })));
        }
        prop_assert_eq!(tail.next(), Ok(None));
    }

    #[test]
    fn the_order_of_keys_is_the_order_of_ids(ids in vec(ids(), 2)) {
        let keys: Vec<Vec<u8>> = ids.iter().map(|id| { let mut key = Vec::new(); id.get().write_key(&mut key); key }).collect();
        prop_assert_eq!(keys[0].cmp(&keys[1]), ids[0].get().cmp(&ids[1].get()));
        prop_assert_eq!(IdRef::from_key(&keys[0]), Some(ids[0].get()));
    }

    #[test]
    fn measured_errors_are_rounded_up_and_never_above_the_bound(bound in bounds(), share in 0.0f32..=1.0) {
        let measured = bound * share;
        let accuracy = Accuracy::new(bound, measured);
        prop_assert!(accuracy.measured() >= measured && accuracy.measured() <= bound);
        prop_assert!(f64::from(accuracy.measured()) <= f64::from(measured) + f64::from(bound) / 254.0 + 1e-45);
        prop_assert_eq!(Accuracy::new(bound, accuracy.measured()).measured(), accuracy.measured());
    }
}
