import { Check } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { Link } from 'react-router'
import { classNames } from './class-names.ts'
import styles from './menu.module.css'

export type MenuProps = {
  trigger: ReactElement<Record<string, unknown>>
  children: ReactNode
  align?: 'start' | 'end'
}

/** A menu that is open from the start. It is not modal, because Radix would inject a style element. */
export function OpenMenu({ trigger, children, align = 'start' }: MenuProps) {
  return (
    <Radix.Root modal={false} defaultOpen>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles.menu} align={align} sideOffset={5} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export type MenuItemProps = {
  icon?: ReactNode
  children: ReactNode
  onSelect?: () => void
  to?: string
  /** A file to download. */
  href?: string
  isDangerous?: boolean
  /** Why the item is disabled. Shown in the menu. */
  refusal?: string | null | undefined
}

export function MenuItem({ icon, children, onSelect, to, href, isDangerous, refusal }: MenuItemProps) {
  const className = classNames(styles.item, isDangerous && styles.danger)
  if (refusal) {
    return (
      <Radix.Item className={className} aria-disabled="true" onSelect={event => event.preventDefault()}>
        {icon}
        <span>
          {children}
          <span className={styles.why}>{refusal}</span>
        </span>
      </Radix.Item>
    )
  }
  const content = (
    <>
      {icon}
      {children}
    </>
  )
  const link =
    to !== undefined ? (
      <Link to={to}>{content}</Link>
    ) : (
      href !== undefined && (
        <a href={href} download="">
          {content}
        </a>
      )
    )
  return (
    <Radix.Item className={className} asChild={Boolean(link)} onSelect={() => onSelect?.()}>
      {link || content}
    </Radix.Item>
  )
}

export type MenuCheckItemProps = { isChecked: boolean; onChange(): void; children: ReactNode }

/** A choice among several. The menu stays open for further ones. */
export function MenuCheckItem({ isChecked, onChange, children }: MenuCheckItemProps) {
  return (
    <Radix.CheckboxItem
      className={styles.item}
      checked={isChecked}
      onSelect={event => event.preventDefault()}
      onCheckedChange={onChange}
    >
      <Check size={15} visibility={isChecked ? 'visible' : 'hidden'} />
      {children}
    </Radix.CheckboxItem>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className={styles.label}>{children}</Radix.Label>
}

export function MenuSeparator() {
  return <Radix.Separator className={styles.separator} />
}
