/** Where bytes of UTF-8 may be cut without tearing a character apart. Bytes that are no UTF-8 may be cut anywhere. */

/** The cut at or before `at` (at most 3 bytes back) that tears no character which `bytes` shows or lets expect. */
export function borderBefore(bytes: Uint8Array, at: number): number {
  const end = Math.min(at, bytes.length);
  const next = bytes[end];
  if (next !== undefined && !isContinuation(next)) return end;
  for (let lead = end - 1; lead >= 0 && lead >= end - 3; lead--) {
    if (isContinuation(bytes[lead])) continue;
    return lead + characterLength(bytes[lead]) > end ? lead : end;
  }
  return end;
}

/** The cut at or after `at`. At 0 the bytes before are not known: up to 3 continuation bytes may belong to them. */
export function borderAfter(bytes: Uint8Array, at: number): number {
  const lead = at === 0 ? -1 : borderBefore(bytes, at);
  if (lead === at) return at;
  const end = at === 0 ? 3 : lead + characterLength(bytes[lead]);
  let cut = at;
  while (cut < end && cut < bytes.length && isContinuation(bytes[cut])) cut++;
  return cut;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function characterLength(lead: number | undefined): number {
  if (lead === undefined || lead < 0xc2 || lead > 0xf4) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}
