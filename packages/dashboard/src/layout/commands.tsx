import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'

/** A command of the palette. */
export type Command = {
  id: string
  label: string
  /** The heading above the command. */
  group: string
  /** Additional search terms. */
  keywords?: readonly string[]
  run(): void
}

type Registry = { commands: readonly Command[]; add(commands: readonly Command[]): () => void }

const RegistryContext = createContext<Registry>({ commands: [], add: () => () => {} })

export function CommandProvider({ children }: { children: ReactNode }): ReactNode {
  const [lists, setLists] = useState<ReadonlyArray<readonly Command[]>>([])
  const registry = useMemo(
    () => ({
      commands: lists.flat(),
      add(commands: readonly Command[]) {
        setLists(before => [...before, commands])
        return () => setLists(before => before.filter(list => list !== commands))
      },
    }),
    [lists],
  )
  return <RegistryContext value={registry}>{children}</RegistryContext>
}

/** Returns all commands that are registered now. */
export function useAllCommands(): readonly Command[] {
  return useContext(RegistryContext).commands
}

/** Registers commands while the component is mounted. Pass a list from `useMemo`. */
export function useCommands(commands: readonly Command[]): void {
  const { add } = useContext(RegistryContext)
  // `add` changes identity with every list, but not behavior.
  useEffect(() => add(commands), [commands])
}
