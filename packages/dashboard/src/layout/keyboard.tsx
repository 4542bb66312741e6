import { useEffect, useMemo } from 'react'
import { useNavigate } from 'react-router'
import { paths } from '../paths.ts'
import { useOrganization, useRights } from '../session/scope.ts'
import { DefinitionList } from '../ui/definition-list.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { latePart } from '../ui/late-part.tsx'
import { repeatEarlyKeys } from './early-keys.ts'
import { useShellWorkspace, useWorkspaceNavigation } from './navigation.ts'
import { followKeys, keysText, shortcutsOf } from './shortcuts.ts'

const CommandPalette = latePart(async () => (await import('./command-palette.tsx')).CommandPalette)

/** The palette or the help, if one is open. `group` leaves the palette only these commands. */
export type Opened = { part: 'palette' | 'help'; group?: string } | null

type KeyboardProps = { open: Opened; onOpen(open: Opened): void }

/** The shortcuts of every page, the palette and the help. A click may open them before this script is loaded. */
export function Keyboard({ open, onOpen }: KeyboardProps) {
  const { slug } = useOrganization().organization
  const ws = useShellWorkspace()?.id
  const mayCreate = useRights(ws).can('task.write').allowed
  const pages = useWorkspaceNavigation()
  const navigate = useNavigate()
  const shortcuts = useMemo(
    () =>
      shortcutsOf({
        pages,
        go: path => void navigate(path),
        show: part => onOpen({ part }),
        create: () => ws !== undefined && mayCreate && navigate(paths.workspace(slug, ws).newTask()),
      }),
    [pages, navigate, slug, ws, mayCreate, onOpen],
  )
  useEffect(() => followKeys(shortcuts), [shortcuts])
  useEffect(repeatEarlyKeys, [])
  const close = () => onOpen(null)
  return (
    <>
      {open?.part === 'palette' && <CommandPalette group={open.group} onClose={close} />}
      <Dialog isOpen={open?.part === 'help'} onClose={close} title="Keyboard shortcuts">
        <DefinitionList
          rows={Object.fromEntries(shortcuts.map(({ keys, label }) => [label, <kbd key={keys}>{keysText(keys)}</kbd>]))}
        />
      </Dialog>
    </>
  )
}
