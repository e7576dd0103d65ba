//! Describes the contents of a file in the JSON of the golden vectors.

use bitgrain_formats::segment::*;
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bits(value: f32) -> String {
    format!("{:08x}", value.to_bits())
}

fn id(id: IdRef<'_>) -> Value {
    match id {
        IdRef::Name(name) => json!(name),
        IdRef::Number(number) => json!({ "number": format!("{number:032x}") }),
    }
}

fn form(form: Form) -> String {
    match form {
        Form::Raw => "f32".into(),
        Form::Half => "f16".into(),
        Form::Blocks(width) => format!("b{}", width.bits()),
        Form::TwoLevel => "b3x2".into(),
        Form::Absent => "none".into(),
        Form::Frames => "frames".into(),
    }
}

fn reconstruct(policy: Reconstruct<'_>) -> Value {
    match policy {
        Reconstruct::Delta { base, format } => json!({
            "kind": "delta",
            "base": id(base),
            "form": form(Encoding::Blocks(format).form()),
            "block_len": format.block_len().get(),
        }),
        Reconstruct::Factor { source, scale, permutation, projection } => json!({
            "kind": "factor",
            "source": id(source),
            "scale": bits(scale),
            "permutation": permutation,
            "projection": projection.map(|(rows, columns)| [rows, columns]),
        }),
    }
}

fn tensor(tensor: &TensorHead<'_>) -> Value {
    let block_len = match tensor.encoding {
        Encoding::Blocks(format) => Some(format.block_len().get()),
        _ => None,
    };
    json!({
        "shape": tensor.shape,
        "tier": tensor.tier,
        "form": form(tensor.encoding.form()),
        "block_len": block_len,
        "bound": bits(tensor.accuracy.bound()),
        "measured": tensor.accuracy.share(),
        "created": tensor.created,
        "updated": tensor.updated,
        "pinned": tensor.pinned,
        "max_error": tensor.max_error.map(bits),
        "user": tensor.user,
        "reconstruct": tensor.reconstruct.map(reconstruct),
    })
}

fn frame(frame: &FrameHead) -> Value {
    let values = match frame.values {
        FrameValues::Codes(width) => Form::Blocks(width),
        FrameValues::Raw => Form::Raw,
        FrameValues::Half => Form::Half,
        FrameValues::Absent => Form::Absent,
    };
    let mut described = json!({
        "index": frame.index,
        "scales": if frame.scales == ScaleType::F16 { "f16" } else { "f32" },
        "scales_of": frame.role.key(),
        "difference_to": frame.role.base(),
        "shape": frame.shape,
        "tier": frame.tier,
        "form": form(values),
        "block_len": frame.values.width().map(|_| frame.block.get()),
        "bound": bits(frame.accuracy.bound()),
        "measured": frame.accuracy.share(),
        "time": frame.time,
    });
    // Absent from vectors that were written before frames could be re-encoded.
    if let Some(first) = frame.rewritten {
        described["rewritten"] = first.into();
    }
    described
}

fn usage(body: &[u8]) -> Value {
    let mut entries = UsageEntries::new(body);
    let mut list = Vec::new();
    while let Some(entry) = entries.next().expect("a good list") {
        list.push(one_usage(&entry));
    }
    let mut groups = entries.into_frame_usage().expect("a good list");
    let mut frames = Vec::new();
    while let Some(FrameUsageEntry { group, usage }) = groups.next().expect("a good list") {
        let mut described = one_usage(&usage);
        described["group"] = group.into();
        frames.push(described);
    }
    let mut tiers = groups.into_wanted_tiers().expect("a good list");
    let (last_downgrade, mut wanted) = (tiers.last_downgrade, Vec::new());
    while let Some(entry) = tiers.next().expect("a good list") {
        wanted.push(json!({ "id": id(entry.id), "tier": entry.tier }));
    }
    if last_downgrade.is_none() && wanted.is_empty() && frames.is_empty() {
        return list.into();
    }
    let mut described = json!({ "uses": list, "last_downgrade": last_downgrade, "wishes": wanted });
    // Absent from vectors that were written before reads of frames were stored.
    if !frames.is_empty() {
        described["frames"] = frames.into();
    }
    described
}

fn one_usage(entry: &UsageEntry<'_>) -> Value {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 32768")]
    let average = (entry.ema * 32768.0) as u16;
    json!({
        "id": id(entry.id),
        "accesses": entry.accesses,
        "last": entry.last,
        "window": entry.window,
        "average": average,
    })
}

fn record(offset: u64, record: &RecordView<'_>, bytes: &[u8]) -> Value {
    let body = record.body(bytes).expect("checked");
    let Stamp { sequence, batch_left, pending, time } = record.head.stamp;
    let (kind, content) = match &record.head.content {
        Content::Tensor(_, head) => ("tensor", tensor(head)),
        Content::Frame(_, head) => ("frame", frame(head)),
        Content::Delete(_) => ("deletion", Value::Null),
        Content::Usage => ("usage", usage(body)),
    };
    json!({
        "offset": offset,
        "kind": kind,
        "sequence": sequence,
        "time": time,
        "batch_left": batch_left,
        "pending": pending,
        "id": record.head.content.id().map(id),
        "content": content,
        "body": hex(body),
    })
}

pub(crate) fn segment(bytes: &[u8]) -> Value {
    let header = SegmentHeader::parse(bytes).expect("a good header");
    let tail = bytes.last_chunk().expect("longer than a trailer");
    let trailer = Trailer::parse(tail, &header, bytes.len() as u64).expect("a good trailer or none");
    let end = trailer.map_or(bytes.len(), |trailer| trailer.index_offset as usize);
    let mut records = Records::new(&bytes[..end], &header);
    let described: Vec<_> = records.by_ref().map(|(at, view)| record(at, &view, &bytes[at as usize..])).collect();
    let (End::Clean { offset } | End::Torn { offset, .. } | End::Bad { offset, .. }) = *records.end();
    json!({
        "kind": "segment",
        "header": {
            "kind": if header.kind == SegmentKind::Log { "log" } else { "compacted" },
            "store": hex(&header.store),
            "number": header.number,
            "previous": header.previous,
            "base_sequence": header.base_sequence,
            "base_time": header.base_time,
        },
        "records": described,
        "sealed": trailer.is_some(),
        "torn": end as u64 - offset,
    })
}

pub(crate) fn catalog(bytes: &[u8]) -> Value {
    let catalog = Catalog::parse(bytes).expect("a good catalog");
    let part = |part: &ObjectPart| json!({ "writer": hex(&part.writer), "count": part.count, "len": part.len });
    let file = |file: &CatalogFile| {
        json!({
            "name": file.name,
            "sealed": file.sealed,
            "parts": file.parts.iter().map(part).collect::<Vec<_>>(),
            "tail": hex(&file.tail),
        })
    };
    let dead = |dead: &DeadObject| json!({ "name": dead.name, "writer": hex(&dead.writer), "count": dead.count, "since": dead.since });
    let fence = |fence: &Fence| json!({ "number": fence.number, "time": fence.time });
    json!({
        "kind": "catalog",
        "catalog": {
            "number": catalog.number,
            "epoch": catalog.epoch,
            "writer": hex(&catalog.writer),
            "time": catalog.time,
            "files": catalog.files.iter().map(file).collect::<Vec<_>>(),
            "dead": catalog.dead.iter().map(dead).collect::<Vec<_>>(),
            "fences": catalog.fences.iter().map(fence).collect::<Vec<_>>(),
        },
    })
}

pub(crate) fn manifest(bytes: &[u8]) -> Value {
    let manifest = Manifest::parse(bytes).expect("a good manifest");
    let sealed = |segment: &SealedSegment| json!({ "number": segment.number, "len": segment.len, "index_sum": format!("{:08x}", segment.index_crc) });
    let (closed, last) = match manifest.log_end {
        LogEnd::Open => (false, None),
        LogEnd::Closed(last) => (true, last),
    };
    json!({
        "kind": "manifest",
        "manifest": {
            "store": hex(&manifest.store),
            "number": manifest.number,
            "log_from": manifest.log_from,
            "closed": closed,
            "last": last.as_ref().map(sealed),
            "compacted": manifest.compacted.iter().map(sealed).collect::<Vec<_>>(),
        },
    })
}
