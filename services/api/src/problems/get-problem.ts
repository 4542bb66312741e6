import { problems } from '@belfry/contract'
import { appErrorCodes } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'

/** What the `type` of a problem body points to. */
export const getProblem = endpoint({
  right: 'public',
  async handle(_ctx, { request }) {
    const code = appErrorCodes.find(known => known === request.params.code)
    if (!code) throw notFound()
    return ok({ code, ...problems[code] })
  },
})
