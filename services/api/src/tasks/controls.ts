/** The deadline and the labels that something gives its tasks, in a request. */
export type Controls = { max_age_ms?: number | null | undefined; labels?: string[] | undefined }

/** SQL: the columns of these, in each table that has them. */
export const controlColumns = 'max_age_ms AS "maxAgeMs", labels'

/** Returns these fields as they are stored. Fields that a change omits are undefined. */
export function toStoredControls<Body extends Controls>({ max_age_ms, labels }: Body) {
  return { maxAgeMs: max_age_ms as Body['max_age_ms'], labels: labels as Body['labels'] }
}

type StoredControls = { maxAgeMs?: number | null; labels?: readonly string[] | null }

/** Returns these fields as a response has them. */
export function presentControls({ maxAgeMs, labels }: StoredControls) {
  return { max_age_ms: maxAgeMs ?? null, labels: [...(labels ?? [])] }
}
