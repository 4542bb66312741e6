import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'

/** Something that the command palette offers. */
export type Command = {
  id: string
  label: string
  /** Under which heading it stands. */
  group: string
  /** Other words by which it is found. */
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

/** Everything that the palette offers now. */
export function useAllCommands(): readonly Command[] {
  return useContext(RegistryContext).commands
}

/** Offers commands while the calling component is shown. Give it a list from `useMemo`. */
export function useCommands(commands: readonly Command[]): void {
  const { add } = useContext(RegistryContext)
  // `add` is made anew with every list, and does the same.
  useEffect(() => add(commands), [commands])
}
