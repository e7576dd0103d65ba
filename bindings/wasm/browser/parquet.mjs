// Writes a small Parquet file: columns of doubles without missing values, uncompressed.

const varint = (n) => (n < 128 ? [n] : [(n % 128) + 128, ...varint(Math.floor(n / 128))]);
const integer = (n) => varint(2 * n);
const bytes = (text) => [...varint(text.length), ...Buffer.from(text)];

// Thrift's compact protocol: each field is `[id, type, content]`.
const [I32, I64, BINARY, LIST, STRUCT] = [5, 6, 8, 9, 12];
const struct = (...fields) => {
  let last = 0;
  const encoded = fields.flatMap(([id, type, content]) => {
    const head = ((id - last) << 4) | type;
    last = id;
    return [head, ...(type === I32 || type === I64 ? integer(content) : content)];
  });
  return [...encoded, 0];
};
const list = (type, items) => [...(items.length < 15 ? [(items.length << 4) | type] : [0xf0 | type, ...varint(items.length)]), ...items.flat()];

const DOUBLE = 5;

export function parquet(columns) {
  const names = Object.keys(columns);
  const rows = columns[names[0]].length;
  const parts = [Buffer.from("PAR1")];
  let at = 4;
  const chunks = names.map((name) => {
    const values = Buffer.from(Float64Array.from(columns[name]).buffer);
    const header = struct([1, I32, 0], [2, I32, values.length], [3, I32, values.length], [5, STRUCT, struct([1, I32, rows], [2, I32, 0], [3, I32, 3], [4, I32, 3])]);
    const size = header.length + values.length;
    const about = struct(
      [1, I32, DOUBLE], [2, LIST, list(I32, [integer(0)])], [3, LIST, list(BINARY, [bytes(name)])], [4, I32, 0],
      [5, I64, rows], [6, I64, size], [7, I64, size], [9, I64, at],
    );
    const chunk = struct([2, I64, at], [3, STRUCT, about]);
    parts.push(Buffer.from(header), values);
    at += size;
    return chunk;
  });
  const columnOf = (name) => struct([1, I32, DOUBLE], [3, I32, 0], [4, BINARY, bytes(name)]);
  const schema = [struct([4, BINARY, bytes("table")], [5, I32, names.length]), ...names.map(columnOf)];
  const group = struct([1, LIST, list(STRUCT, chunks)], [2, I64, at - 4], [3, I64, rows]);
  const footer = Buffer.from(struct([1, I32, 1], [2, LIST, list(STRUCT, schema)], [3, I64, rows], [4, LIST, list(STRUCT, [group])]));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, size, Buffer.from("PAR1")]);
}
