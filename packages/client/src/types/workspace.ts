/** A value of a secret. Without `allowedHosts` an existing secret keeps its hosts. Null allows every host. */
export type PutSecret = { value: string; allowedHosts?: string[] | null }
