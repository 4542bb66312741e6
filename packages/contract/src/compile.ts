import { z } from 'zod'

let isCompiling = false

/**
 * Returns a schema that parses valid input in one generated function, and other input as before, to report its errors. Returns
 * the schema itself where no such function can be generated.
 */
export function compile<Schema extends z.ZodType>(schema: Schema): Schema {
  isCompiling = true
  try {
    return z.compile(schema)
  } finally {
    isCompiling = false
  }
}

type Payload = { value: unknown; issues: readonly unknown[] }

/**
 * A check of a value that may have other errors.
 * @param when - Whether it runs. True for a value without errors: generated code knows only these and does not ask.
 */
export function checkWhen<T>(when: (payload: Payload) => boolean, check: (value: T, ctx: z.RefinementCtx<T>) => void) {
  const made = z.superRefine<T>(check)
  Object.defineProperty(made._zod.def, 'when', { get: () => (isCompiling ? undefined : when) })
  return made
}

/** Whether the members of a value can be read, although some may be invalid. */
export function isReadable({ value }: Payload): boolean {
  return typeof value === 'object' && value !== null
}
