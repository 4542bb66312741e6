import { z } from 'zod'
import { textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { shownFlag, shownNumber, textOrNull, timeOrNull } from './response-fields.ts'
import { line } from './text-rules.ts'

export const searchQuery = z.strictObject({ q: textField(line(200), 'q is required.') })

const searchKinds = ['task', 'cron_job', 'run', 'label', 'host', 'topic', 'queue', 'secret'] as const

const found = namedObject('Found', {
  kind: z.enum(searchKinds).meta({ description: 'What was found.' }),
  id: textOrNull(
    'The latest task of the name, the cron job or the run. Null for other kinds.',
    'task_01jd8vk3e8f4bvm6cz1q2w3x4y',
  ),
  name: z.string().meta({ examples: ['Trial reminder'], description: 'The name, the label, the host or the topic.' }),
  count: shownNumber('The number of recent tasks with this name, label, host or topic; 1 for other kinds.', 12),
  at: timeOrNull('When the latest of them was created; null for queues and secrets.'),
})

/** What a search has found, at most eight of a kind. */
export const searchResult = namedObject('SearchResult', {
  data: z.array(found).meta({ description: 'What was found.' }),
  is_partial: shownFlag('There are older tasks, cron jobs or runs in object storage, which were not searched.', false),
})

export type SearchResult = z.infer<typeof searchResult>
export type Found = SearchResult['data'][number]
