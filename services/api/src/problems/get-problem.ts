import { problemPage, problems } from '@belfry/contract'
import { appErrorCodes } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'

/** What the `type` of a problem body points to. */
export const getProblem = endpoint({
  right: 'public',
  summary: 'Say what a problem code means',
  answer: { status: 200, body: problemPage },
  async handle(_ctx, { request }) {
    const code = appErrorCodes.find(known => known === request.params.code)
    if (!code) throw notFound()
    return ok({ code, ...problems[code] })
  },
})
