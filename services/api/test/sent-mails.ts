import { takeFromOutbox } from '@belfry/db/outbox/outbox'
import type { Message } from '@belfry/messages'
import type { TestApi } from './setup.ts'

type Mail = Extract<Message, { type: 'mail' }>['mail']

const mails: Mail[] = []

/** Returns every mail to an address in the outbox, as the dispatcher would send it, the latest last. */
export async function mailsTo({ ctx, db }: TestApi, email: string): Promise<Mail[]> {
  for (;;) {
    const taken = await takeFromOutbox(db, 'mail', 3_600_000)
    if (!taken) return mails.filter(({ to }) => to === email)
    mails.push(JSON.parse(taken.open(ctx.config.masterKeys)).mail)
  }
}

/** Returns the token of the link in the latest mail to an address. */
export async function tokenFor(api: TestApi, email: string): Promise<string> {
  const text = (await mailsTo(api, email)).at(-1)?.text ?? ''
  return /#([\w-]{43})\n/.exec(text)?.[1] ?? ''
}
