type Scalar = string | number | boolean | null

/**
 * A condition on a member of a payload. The names in `path` are joined by dots; a number selects an element of a list. A
 * missing member satisfies only `ne` and `exists: false`, and values of different types are never equal.
 */
export type Condition =
  | { path: string; op: 'eq' | 'ne'; value: Scalar }
  | { path: string; op: 'in'; value: Scalar[] }
  | { path: string; op: 'prefix'; value: string }
  | { path: string; op: 'exists'; value: boolean }
  | { path: string; op: 'gt' | 'gte' | 'lt' | 'lte'; value: number }
