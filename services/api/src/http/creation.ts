import type { Db, KeyedRequest } from '@belfry/db'
import type { ActionIn } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { type Definition, type Endpoint, endpoint, type Input } from './endpoint.ts'
import { type RunCreation, readKeyedRequest, runOnce } from './idempotency.ts'
import type { Reply } from './reply.ts'

/**
 * The context of a creation. With an `Idempotency-Key`, `db` is a transaction that also stores the reply: everything that
 * the creation writes has to go through it.
 */
export type Work = Omit<Context, 'pool'> & {
  db: Db
  /** Set when the creation has to store its reply in the same statement as what it creates; see `storesReply`. */
  keyed: KeyedRequest | null
  /** Runs `act` once the creation is committed. */
  afterCommit(act: (ctx: Context) => void): void
}

export type Creation<R extends ActionIn<'workspace'>, Body, Query, Params extends string> = Omit<
  Definition<R, Body, Query, Params>,
  'handle'
> & {
  /** Whether the creation of such a body stores its reply when `keyed` is set. Default false. */
  storesReply?: (body: Body) => boolean
  handle: (work: Work, input: Input<R, Body, Query, Params>) => Promise<Reply>
}

/** Makes an endpoint that creates something. Repeated with the same `Idempotency-Key`, it repeats its first reply. */
export function creation<
  R extends ActionIn<'workspace'>,
  Body = undefined,
  Query = undefined,
  Params extends string = never,
>(definition: Creation<R, Body, Query, Params>): Endpoint {
  const { storesReply = () => false } = definition
  return endpoint<R, Body, Query, Params>({
    ...definition,
    isIdempotent: true,
    async handle(ctx, input) {
      const request = readKeyedRequest(input.request, input.caller.workspaceId, input.bodyText)
      let acts: Array<(ctx: Context) => void> = []
      const run: RunCreation = (db, keyed) => {
        acts = []
        return definition.handle({ ...ctx, db, keyed, afterCommit: act => acts.push(act) }, input)
      }
      const reply =
        request === null ? await run(ctx.pool, null) : await runOnce(ctx, request, run, storesReply(input.body))
      if (__FAILPOINTS__) await failpoint('api.after_commit')
      for (const act of acts) act(ctx)
      if (__FAILPOINTS__) await failpoint('api.after_enqueue')
      return reply
    },
  })
}
