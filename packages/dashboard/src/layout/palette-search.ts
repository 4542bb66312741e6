import type { Found } from '@belfry/contract/overview'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { useChange } from '../forms/use-change.ts'
import type { WorkspacePaths } from '../paths.ts'
import { useRights } from '../session/scope.ts'
import { useSettled } from '../ui/use-settled.ts'
import { pausable } from './pause-button.tsx'
import { searchQuery } from './search-query.ts'

const settledMs = 150

/** Finds objects of a workspace by id, or by a part of the name or label. Nothing until it has searched for this very text. */
export function usePaletteSearch(ws: string | undefined, text: string) {
  const settled = useSettled(text, settledMs)
  const { data, isFetching, isPlaceholderData } = useQuery(searchQuery(ws, settled))
  const isSettled = settled === text
  const current = isSettled && !isPlaceholderData && text.trim() !== '' ? data : undefined
  return {
    found: current?.data ?? [],
    isSearched: current !== undefined,
    isSearching: isFetching || !isSettled,
    isPartial: current?.is_partial ?? false,
  }
}

export function pathOf({ kind, id, name, count }: Found, to: WorkspacePaths): string {
  const filter = (filter: string) => `?${new URLSearchParams({ [filter]: name })}`
  const pages: Readonly<Record<Found['kind'], string>> = {
    cron_job: to.cronJob(id ?? ''),
    run: to.run(id ?? ''),
    task: count > 1 ? to.tasks(filter('name')) : to.task(id ?? ''),
    queue: to.tasks(filter('queue')),
    secret: to.settings('secrets'),
    host: to.host(name),
    topic: to.log(filter('topic')),
    label: to.log(filter('label')),
  }
  return pages[kind]
}

type Verb = 'pause' | 'resume'

/** Returns the verb with which a text begins, and the rest: "pause mail" looks for objects to pause. */
export function verbIn(text: string): { verb: Verb | undefined; rest: string } {
  const [, verb, rest] = /^\s*(pause|resume)\s+(.*)$/i.exec(text) ?? []
  return { verb: verb?.toLowerCase() as Verb | undefined, rest: rest ?? text }
}

/** Returns a function that pauses or resumes an object, and another that returns whether the user may. */
export function usePause(ws: string | undefined) {
  const { can } = useRights(ws)
  const { mutate } = useChange({
    run: ({ verb, target: { kind, id, name } }: { verb: Verb; target: Found }) =>
      call(pausable[kind as keyof typeof pausable][verb], { ws: ws ?? '', queue: name, host: name, cronjob: id ?? '' }),
    done: (_, { verb, target: { name } }) => `${name} ${verb}d`,
  })
  return {
    pause: mutate,
    mayPause: ({ kind }: Found) => kind in pausable && can(pausable[kind as keyof typeof pausable].right).allowed,
  }
}
