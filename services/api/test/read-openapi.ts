import type { Json, TestApi } from './setup.ts'

/** Returns the served OpenAPI document, with what its operations refer to in their place. Responses still refer to schemas. */
export async function readOpenApi(api: TestApi): Promise<Json> {
  const { body: document } = await api.send('GET', '/api/openapi.json')
  const target = ({ $ref }: Json) =>
    $ref
      .slice('#/'.length)
      .split('/')
      .reduce((part: Json, name: string) => part[name], document)
  const resolve = (part: Json): Json =>
    JSON.parse(JSON.stringify(part), (_name, value) => {
      if (typeof value?.$ref !== 'string') return value
      const { $ref: _, ...rest } = value
      return { ...resolve(target(value)), ...rest }
    })
  for (const operation of Object.values<Json>(document.paths).flatMap(methods => Object.values<Json>(methods))) {
    operation.parameters = resolve(operation.parameters)
    if (operation.requestBody) operation.requestBody = resolve(operation.requestBody)
    for (const [status, response] of Object.entries<Json>(operation.responses)) {
      if (response.$ref) operation.responses[status] = target(response)
    }
  }
  return document
}
