import { fillExampleTimes } from '@belfry/contract/text-rules'
import { version } from '@belfry/domain/version'
import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { text } from '../http/reply.ts'
import { describeApi, type Routes } from './document.ts'
import { pageHeaders, renderReference } from './render-page.ts'

/** Serves the description of the API. `routes` is a function, because the routes contain this endpoint. */
export function getOpenApi(routes: () => Routes) {
  let document: string | undefined
  return endpoint({
    right: 'public',
    summary: 'Describe this API as OpenAPI 3.1',
    answer: { status: 200, body: z.looseObject({ openapi: z.string().meta({ examples: ['3.1.1'] }) }) },
    async handle(ctx) {
      document ??= JSON.stringify(describeApi(routes(), ctx.config.publicUrl, version))
      return text('application/json', fillExampleTimes(document, ctx.clock.now()))
    },
  })
}

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
