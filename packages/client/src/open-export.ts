import type { Http } from './http.ts'
import type { RequestOptions } from './options.ts'

/** A file as it comes in, however large; `new Response(stream).text()` gives all of it. */
export async function openExport(
  http: Http,
  path: string,
  query: object,
  options?: RequestOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { body } = await http.open({ method: 'GET', path, query: { ...query }, headers: { Accept: '*/*' }, options })
  return body ?? new ReadableStream({ start: controller => controller.close() })
}
