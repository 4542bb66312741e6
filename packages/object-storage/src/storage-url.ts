/** A place in object storage: a bucket, a prefix of keys, and the server. */
export type StoragePlace = ReturnType<typeof parseStorageUrl>

/**
 * Parses `s3://bucket/prefix?endpoint=https://...&region=...`. The default region is `us-east-1`.
 * @throws Error that says what the URL must be.
 */
export function parseStorageUrl(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 's3:' || url.hostname === '') throw new Error('must be s3://bucket/prefix')
  if (url.username !== '') throw new Error('must have no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  const unknown = [...url.searchParams.keys()].find(name => name !== 'endpoint' && name !== 'region')
  if (unknown !== undefined) throw new Error(`has the unknown parameter ${unknown}: use endpoint and region`)
  const endpoint = url.searchParams.get('endpoint')
  if (endpoint !== null && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    throw new Error('must have an http(s) URL as endpoint')
  return {
    bucket: url.hostname,
    /** Without slashes at its ends; empty when keys have no prefix. */
    prefix: url.pathname.replace(/^\/+|\/+$/g, ''),
    /** The URL of an S3-compatible server; null for Amazon's. */
    endpoint,
    region: url.searchParams.get('region') ?? 'us-east-1',
  }
}
