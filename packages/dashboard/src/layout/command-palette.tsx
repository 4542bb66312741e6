import type { Found } from '@belfry/contract/search'
import { useQuery } from '@tanstack/react-query'
import { Command as Cmdk, defaultFilter } from 'cmdk'
import { Dialog } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { paths, type WorkspacePaths } from '../paths.ts'
import { useOrganization } from '../session/scope.ts'
import { formatCount } from '../ui/format-amount.ts'
import { useScrollLock } from '../ui/use-scroll-lock.ts'
import { useSettled } from '../ui/use-settled.ts'
import styles from './command-palette.module.css'
import { useAllCommands } from './commands.tsx'
import { useShellWorkspace } from './navigation.ts'
import { searchQuery } from './search-query.ts'

const settledMs = 150

/** Searches the registered commands, and what the API finds in the workspace. */
export function CommandPalette({ onClose }: { onClose: () => void }): ReactNode {
  useScrollLock()
  const commands = useAllCommands()
  const navigate = useNavigate()
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const [text, setText] = useState('')
  const { data, isFetching } = useQuery(searchQuery(workspace?.id, useSettled(text, settledMs)))
  const groups = [...new Set(commands.map(({ group }) => group))]
  const found = text.trim() === '' ? [] : (data?.data ?? [])
  const to = workspace && paths.workspace(organization.slug, workspace.id)
  return (
    <Dialog.Root open onOpenChange={open => !open && onClose()}>
      <Dialog.Portal>
        <div className={styles.overlay} />
        <Dialog.Content className={styles.palette} aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Commands</Dialog.Title>
          <Cmdk label="Commands" loop filter={byWords}>
            <Cmdk.Input
              placeholder="Search by name, label, host or ID, or type a command…"
              autoFocus
              value={text}
              onValueChange={setText}
            />
            <Cmdk.List className={styles.list}>
              <Cmdk.Empty>{isFetching ? 'Searching…' : 'No results'}</Cmdk.Empty>
              {groups.map(group => (
                <Cmdk.Group key={group} heading={group}>
                  {commands
                    .filter(command => command.group === group)
                    .map(({ id, label, keywords, run }) => (
                      <Cmdk.Item
                        key={id}
                        value={id}
                        keywords={[label, ...(keywords ?? [])]}
                        onSelect={() => {
                          onClose()
                          run()
                        }}
                      >
                        {label}
                      </Cmdk.Item>
                    ))}
                </Cmdk.Group>
              ))}
              {to &&
                found.map(one => (
                  <Cmdk.Item
                    key={`${one.kind} ${one.name} ${one.id}`}
                    // The API has matched it. New keywords count only with a new value.
                    value={`${one.kind} ${one.name} ${one.id} ${text}`}
                    keywords={[text]}
                    onSelect={() => {
                      onClose()
                      void navigate(pathOf(one, to))
                    }}
                  >
                    <bdi className={styles.name}>{one.name}</bdi>
                    <span className={styles.kind}>{describe(one)}</span>
                  </Cmdk.Item>
                ))}
              {to && text.trim() !== '' && (
                <Cmdk.Item
                  value={`search the log ${text}`}
                  keywords={[text]}
                  onSelect={() => {
                    onClose()
                    void navigate(to.log(`?${new URLSearchParams({ name: text.trim() })}`))
                  }}
                >
                  Search the whole log for “{text.trim()}”
                </Cmdk.Item>
              )}
            </Cmdk.List>
            {data && text.trim() !== '' && (
              <p className={styles.note}>
                {found.length === 0 && !isFetching && 'Nothing has this name, label, host, topic or ID. '}
                {data.is_partial && 'Only the latest tasks and cron jobs were searched. '}
                Payloads are not searched.
              </p>
            )}
          </Cmdk>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function pathOf({ kind, id, name, count }: Found, to: WorkspacePaths): string {
  const filtered = (filter: string) => to.log(`?${new URLSearchParams({ [filter]: name })}`)
  switch (kind) {
    case 'cron_job':
      return to.cronJob(id ?? '')
    case 'run':
      return to.run(id ?? '')
    case 'task':
      return count > 1 ? to.tasks(`?${new URLSearchParams({ name })}`) : to.task(id ?? '')
    case 'label':
    case 'host':
    case 'topic':
      return filtered(kind)
    case 'queue':
      return to.tasks(`?${new URLSearchParams({ queue: name })}`)
    case 'secret':
      return to.settings('secrets')
  }
}

const kinds: Record<Found['kind'], string> = {
  task: 'Task',
  cron_job: 'Cron job',
  run: 'Run',
  label: 'Label',
  host: 'Host',
  topic: 'Topic',
  queue: 'Queue',
  secret: 'Secret',
}

function describe({ kind, count }: Found): string {
  return kind !== 'cron_job' && count > 1 ? `${kinds[kind]} · ${formatCount(count)} recent` : kinds[kind]
}

// The value of a command is its id. Users search for its label and keywords.
function byWords(_id: string, search: string, words: string[] = []): number {
  return defaultFilter(words.join(' '), search)
}
