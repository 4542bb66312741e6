import { useEffect, useMemo, useState } from 'react'
import { useNavigate } from 'react-router'
import { paths } from '../paths.ts'
import { useOrganization, useRights } from '../session/scope.ts'
import { DefinitionList } from '../ui/definition-list.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { latePart } from '../ui/late-part.tsx'
import { repeatEarlyKeys } from './early-keys.ts'
import { useShellWorkspace, useWorkspaceNavigation } from './navigation.ts'
import { followKeys, keysText, shortcutsOf } from './shortcuts.ts'
import { onShowPalette } from './show-palette.ts'

const CommandPalette = latePart(async () => (await import('./command-palette.tsx')).CommandPalette)

export function Keyboard() {
  const [open, setOpen] = useState<{ part: 'palette' | 'help'; group?: string | undefined } | null>(null)
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
        show: part => setOpen({ part }),
        create: () => ws !== undefined && mayCreate && navigate(paths.workspace(slug, ws).newTask()),
      }),
    [pages, navigate, slug, ws, mayCreate],
  )
  useEffect(() => followKeys(shortcuts), [shortcuts])
  useEffect(repeatEarlyKeys, [])
  useEffect(() => onShowPalette(group => setOpen({ part: 'palette', group })), [])
  const close = () => setOpen(null)
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
