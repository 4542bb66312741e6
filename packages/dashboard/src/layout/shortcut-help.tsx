import type { ReactNode } from 'react'
import { DefinitionList } from '../ui/definition-list.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { keysText, type Shortcut } from './shortcuts.ts'

type ShortcutHelpProps = { shortcuts: readonly Shortcut[]; onClose(): void }

/** Lists the keyboard shortcuts. */
export function ShortcutHelp({ shortcuts, onClose }: ShortcutHelpProps): ReactNode {
  return (
    <Dialog isOpen onClose={onClose} title="Keyboard shortcuts">
      <DefinitionList rows={shortcuts.map(({ keys, label }) => [label, <kbd key={keys}>{keysText(keys)}</kbd>])} />
    </Dialog>
  )
}
