/** True if If-None-Match lists the tag. The comparison is weak, because proxies weaken tags (RFC 9110 §13.1.2). */
export function isKnown(etag: string, header = ''): boolean {
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
