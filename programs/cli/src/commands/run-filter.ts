import type { Run } from '@belfry/client'
import type { Command } from 'commander'
import { choice, repeated } from '../parse-options.ts'

export type RunFlags = { status?: string; topic?: string[]; cronjob?: string[]; task?: string[]; source?: string }

/** Adds the filter options of new runs. */
export function withRunFilter(command: Command): Command {
  return command
    .addOption(choice('--status <status>', 'only runs with this status', ['success', 'failed']))
    .addOption(repeated('--topic <topic>', 'only runs of events with this topic; can be repeated'))
    .addOption(repeated('--cronjob <id>', 'only runs of this cron job; can be repeated'))
    .addOption(repeated('--task <id>', 'only runs of this task; can be repeated'))
    .addOption(choice('--source <source>', 'only runs of this source', ['task', 'cron', 'event', 'callback']))
}

/** Returns whether a run matches the filter. */
export function isWanted(run: Run, { status, topic, cronjob, task, source }: RunFlags): boolean {
  return (
    (status === undefined || run.status === status) &&
    (source === undefined || run.source === source) &&
    (topic === undefined || topic.includes(run.topic ?? '')) &&
    (cronjob === undefined || cronjob.includes(run.cronjobId ?? '')) &&
    (task === undefined || task.includes(run.taskId))
  )
}
