import { Command as Cmdk, defaultFilter } from 'cmdk'
import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './command-palette.module.css'
import { useAllCommands } from './commands.tsx'

/** Searches the registered commands and runs one. */
export function CommandPalette({ onClose }: { onClose: () => void }): ReactNode {
  const commands = useAllCommands()
  const groups = [...new Set(commands.map(({ group }) => group))]
  return (
    <Dialog.Root open onOpenChange={open => !open && onClose()}>
      <Dialog.Portal>
        <div className={styles.overlay} data-modal="" />
        <Dialog.Content className={styles.palette} aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Commands</Dialog.Title>
          <Cmdk label="Commands" loop filter={byWords}>
            <Cmdk.Input placeholder="Type a command or search…" autoFocus />
            <Cmdk.List className={styles.list}>
              <Cmdk.Empty>No results</Cmdk.Empty>
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
            </Cmdk.List>
          </Cmdk>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

// The value of a command is its id. Users search for its label and keywords.
function byWords(_id: string, search: string, words: string[] = []): number {
  return defaultFilter(words.join(' '), search)
}
