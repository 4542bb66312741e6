import { createCronJobBody } from '@belfry/contract/cron-job'
import { createIntegrationBody } from '@belfry/contract/integration'
import { putQueueBody } from '@belfry/contract/queue'
import { createSubscriptionBody } from '@belfry/contract/subscription'
import type { z } from 'zod'

/** The fields of an object, with the names of the HTTP API. */
export type Fields = Record<string, unknown>

type KindOfObjects = {
  noun: string
  section: string
  /** What the section of a file has, for editors. */
  about: string
  path: string
  body: z.ZodType
  /** The fields of an entry that the API shows. */
  fields: readonly string[]
  /** Fields that an entry of this name need not have, with their values. */
  preset(name: string): Fields
  /** Fields that every other entry has, with an example. */
  required: Fields
  /** Fields of which an object without them has null. */
  optional: readonly string[]
  /** Fields that are the same in an entry and the object that it takes over. */
  alike: readonly string[]
}

const url = 'https://example.com'

/** The kinds of objects that a file declares, in the order in which they are created. */
export const kinds = {
  queue: {
    noun: 'queue',
    section: 'queues',
    about: 'The limits of queues. A queue that no entry has stays.',
    path: '/api/v1/scheduler/queues',
    body: putQueueBody,
    fields: Object.keys(putQueueBody.shape),
    preset: () => ({}),
    required: {},
    optional: [],
    alike: ['name'],
  },
  cron_job: {
    noun: 'cron job',
    section: 'cron_jobs',
    about: 'Recurring requests.',
    path: '/api/v1/scheduler/cronjobs',
    body: createCronJobBody,
    fields: Object.keys(createCronJobBody.shape),
    preset: name => ({ name, method: 'POST' }),
    required: { url, cron: '0 0 * * *' },
    optional: ['payload', 'payload_base64', 'content_type', 'queue', 'connection'],
    alike: ['name'],
  },
  subscription: {
    noun: 'subscription',
    section: 'subscriptions',
    about: 'Targets that receive events.',
    path: '/api/v1/scheduler/subscriptions',
    body: createSubscriptionBody,
    fields: Object.keys(createSubscriptionBody.shape),
    preset: () => ({}),
    required: { topic: 'a', url },
    optional: ['queue', 'connection'],
    alike: ['topic', 'url'],
  },
  integration: {
    noun: 'integration',
    section: 'integrations',
    about: 'Where alerts go.',
    path: '/api/v1/workspaces/current/integrations',
    body: createIntegrationBody,
    fields: ['name', 'channel', 'events'],
    preset: name => ({ name }),
    required: { channel: 'slack', url, events: ['task.dead'] },
    optional: [],
    alike: ['name'],
  },
} as const satisfies Record<string, KindOfObjects>

export type Kind = keyof typeof kinds

export const kindNames = Object.keys(kinds) as Kind[]
