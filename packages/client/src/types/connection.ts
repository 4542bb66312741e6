import type { PutConnection } from '../generated/inputs.ts'

/** How a connection proves who calls. */
export type ConnectionKind = PutConnection['kind']
