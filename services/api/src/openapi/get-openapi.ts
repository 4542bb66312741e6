import { describeApi, writeApi } from '@belfry/contract/openapi/document'
import { operations } from '@belfry/contract/operations'
import { fillExampleTimes } from '@belfry/contract/text-rules'
import { version } from '@belfry/domain/version'
import { endpoint } from '../endpoint.ts'
import { text } from '../http/reply.ts'
import { pageHeaders, renderReference } from './render-page.ts'

let document: string | undefined

/** Serves the description of the API. */
export const getOpenApi = endpoint(operations.getOpenApi, {
  async handle(ctx) {
    document ??= writeApi(describeApi(ctx.config.publicUrl, version))
    return text('application/json', fillExampleTimes(document, ctx.clock.now()))
  },
})

let page: string | undefined

/** Serves the reference of the API. */
export const getReference = endpoint(operations.getReference, {
  async handle(ctx) {
    page ??= renderReference(describeApi(ctx.config.publicUrl, version))
    return text('text/html', fillExampleTimes(page, ctx.clock.now()), pageHeaders)
  },
})
