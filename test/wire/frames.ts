/** Cuts a stream into the protocol's messages. `sizeOf` says how long the next one is, once enough of it is there. */
export function frames(
  sizeOf: (bytes: Buffer) => number | undefined,
  read: (frame: Buffer) => void,
): (chunk: Buffer) => void {
  let bytes: Buffer = Buffer.alloc(0)
  return (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const size = sizeOf(bytes)
      if (size === undefined || bytes.length < size) return
      const frame = bytes.subarray(0, size)
      bytes = bytes.subarray(size)
      read(frame)
    }
  }
}
