import { z } from 'zod'

/** An object of a response whose schema has a name in the OpenAPI document. */
export function namedObject<Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) {
  return z.object(shape).meta({ id: name })
}
