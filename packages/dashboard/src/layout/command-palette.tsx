import type { Found } from '@belfry/contract/overview'
import { Command as Cmdk, defaultFilter } from 'cmdk'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { paths } from '../paths.ts'
import { useOrganization } from '../session/scope.ts'
import { formatCount } from '../ui/format-amount.ts'
import { OpenPanel } from '../ui/open-dialog.tsx'
import { wordsOf } from '../ui/words-of.ts'
import styles from './command-palette.module.css'
import { useShellWorkspace } from './navigation.ts'
import { usePaletteCommands } from './palette-commands.ts'
import { pathOf, usePaletteSearch, usePause, verbIn } from './palette-search.ts'

type CommandPaletteProps = {
  /** Shows the commands of this group alone. */
  group?: string | undefined
  onClose(): void
}

/** Searches the commands, and the objects of the workspace. "pause" or "resume" before a name acts on the result. */
export function CommandPalette({ group: only, onClose }: CommandPaletteProps) {
  const commands = usePaletteCommands().filter(({ group }) => only === undefined || group === only)
  const navigate = useNavigate()
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const [text, setText] = useState('')
  const { verb, rest } = verbIn(text)
  const { found, isSearched, isSearching, isPartial } = usePaletteSearch(
    only === undefined ? workspace?.id : undefined,
    rest,
  )
  const { pause, mayPause } = usePause(workspace?.id)
  const to = workspace && paths.workspace(organization.slug, workspace.id)
  const run = (action: () => unknown) => {
    onClose()
    void action()
  }
  return (
    <OpenPanel title={only ?? 'Commands'} className={styles.palette} onClose={onClose}>
      <Cmdk label="Commands" loop filter={byWords}>
        <Cmdk.Input
          placeholder={only ? `Search ${only.toLowerCase()}…` : 'Search by name, label, host or ID, or type a command…'}
          autoFocus
          value={text}
          onValueChange={setText}
        />
        <Cmdk.List className={styles.list}>
          <Cmdk.Empty>{isSearching ? 'Searching…' : 'No results'}</Cmdk.Empty>
          {[...new Set(commands.map(({ group }) => group))].map(group => (
            <Cmdk.Group key={group} heading={group}>
              {commands
                .filter(command => command.group === group)
                .map(({ id, label, keys, run: action }) => (
                  <Cmdk.Item key={id} value={id} keywords={[label]} onSelect={() => run(action)}>
                    <bdi className={styles.name}>{label}</bdi>
                    {keys && <kbd className={styles.kind}>{keys}</kbd>}
                  </Cmdk.Item>
                ))}
            </Cmdk.Group>
          ))}
          {only === undefined &&
            (['pause', 'resume'] as const).map(word => (
              <Cmdk.Item
                key={word}
                value={word}
                keywords={[`${word} a queue, host or cron job`]}
                onSelect={() => setText(`${word} `)}
              >
                {word === 'pause' ? 'Pause' : 'Resume'} a queue, host or cron job…
              </Cmdk.Item>
            ))}
          {to &&
            found
              .filter(target => !verb || mayPause(target))
              .map(target => (
                <Cmdk.Item
                  key={`${target.kind} ${target.name} ${target.id}`}
                  value={`${foundMark} ${target.kind} ${target.name} ${target.id}`}
                  onSelect={() => run(() => (verb ? pause({ verb, target }) : navigate(pathOf(target, to))))}
                >
                  {verb && `${verb === 'pause' ? 'Pause' : 'Resume'} `}
                  <bdi className={styles.name}>{target.name}</bdi>
                  <span className={styles.kind}>{describe(target)}</span>
                </Cmdk.Item>
              ))}
          {/* Not before the results: Enter chooses the first item that appears. */}
          {to && isSearched && !verb && (
            <Cmdk.Item
              value={logMark}
              onSelect={() => run(() => navigate(to.log(`?${new URLSearchParams({ name: text.trim() })}`)))}
            >
              Search the whole log for “{text.trim()}”
            </Cmdk.Item>
          )}
        </Cmdk.List>
        {isSearched && (
          <p className={styles.note}>
            {found.length === 0 && 'Nothing has this name, label, host, topic or ID. '}
            {isPartial && 'Only the latest tasks and cron jobs were searched. '}
            Payloads are not searched.
          </p>
        )}
      </Cmdk>
    </OpenPanel>
  )
}

function describe({ kind, count }: Found): string {
  return kind !== 'cron_job' && count > 1 ? `${wordsOf(kind)} · ${formatCount(count)} recent` : wordsOf(kind)
}

const foundMark = 'found'
const logMark = 'search the log'

// The value of a command is its id. Users search for its label. The API has matched the other items.
function byWords(value: string, search: string, words: string[] = []): number {
  if (value.startsWith(`${foundMark} `)) return 1
  return value === logMark ? 0.001 : defaultFilter(words.join(' '), search)
}
