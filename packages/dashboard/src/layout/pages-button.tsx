import { Menu } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { Button } from '../ui/button.tsx'
import { latePart } from '../ui/late-part.tsx'
import styles from './shell.module.css'

const OpenPanel = latePart(async () => (await import('../ui/open-dialog.tsx')).OpenPanel)

/** Opens the sidebar over the page, on narrow screens. A navigation closes it. */
export function PagesButton({ children }: { children: ReactNode }): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const { pathname } = useLocation()
  useEffect(() => setIsOpen(false), [pathname])
  return (
    <>
      <Button
        kind="quiet"
        aria-label="Pages"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        icon={<Menu size={18} aria-hidden="true" />}
        onClick={() => setIsOpen(true)}
      />
      {isOpen && (
        <OpenPanel title="Pages" className={styles.drawer} onClose={() => setIsOpen(false)}>
          {children}
        </OpenPanel>
      )}
    </>
  )
}
