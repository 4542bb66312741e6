import { fillExampleTimes } from '@belfry/contract/text-rules'
import { version } from '@belfry/domain/version'
import { endpoint } from '../endpoint.ts'
import { text } from '../http/reply.ts'
import { describeApi, type Routes } from './document.ts'
import { pageHeaders, renderReference } from './render-page.ts'

/** Serves the reference of the API. `routes` is a function, because the routes contain this endpoint. */
export function getReference(routes: () => Routes) {
  let page: string | undefined
  return endpoint({
    right: 'public',
    summary: 'Show this reference',
    answer: { status: 200, texts: ['text/html'] },
    async handle(ctx) {
      page ??= renderReference(describeApi(routes(), ctx.config.publicUrl, version))
      return text('text/html', fillExampleTimes(page, ctx.clock.now()), pageHeaders)
    },
  })
}
