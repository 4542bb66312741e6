import type { Http } from './http.ts'
import type { RequestOptions } from './options.ts'

/** Returns an export as a stream of any size; `new Response(stream).text()` reads all of it. */
export async function openExport(
  http: Http,
  path: string,
  query: object,
  options?: RequestOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { body } = await http.open({ method: 'GET', path, query: { ...query }, headers: { Accept: '*/*' }, options })
  return body ?? new ReadableStream({ start: controller => controller.close() })
}
