import { z } from 'zod'

/** An object of a response whose schema has a name in the OpenAPI document. */
export function namedObject<Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) {
  return z.object(shape).meta({ id: name })
}

/** A list of objects without a name. */
export function listOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.array(z.object(shape))
}
