import type { ComponentProps, ReactNode } from 'react'
import { Link as RouterLink } from 'react-router'
import styles from './button.module.css'
import { classNames } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

type Look = {
  /** Default: secondary. At most one primary button per screen. */
  kind?: 'primary' | 'secondary' | 'quiet' | 'danger' | undefined
  size?: 'medium' | 'small' | undefined
  isWide?: boolean | undefined
  icon?: ReactNode
}

export type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> &
  Look & {
    /** In progress: the button ignores clicks. */
    isPending?: boolean | undefined
    /** Why the button is disabled. It stays focusable, so the tooltip can show the reason. */
    refusal?: string | null | undefined
  }

function lookOf({ kind = 'secondary', size, isWide }: Look): string {
  return classNames(styles.button, styles[kind], size === 'small' && styles.small, isWide && styles.wide)
}

/** A button for an action. For navigation use `ButtonLink`. */
export function Button({ refusal, ...props }: ButtonProps) {
  const button = <PlainButton {...props} refusal={refusal} />
  return refusal ? <Tooltip text={refusal}>{button}</Tooltip> : button
}

type IconButtonProps = Omit<ButtonProps, 'children'> & { label: string; icon: ReactNode }

/** A button with only an icon. `label` is its accessible name and its tooltip. */
export function IconButton({ label, kind = 'quiet', className, ...props }: IconButtonProps) {
  return (
    <Tooltip text={props.refusal ?? label}>
      <PlainButton {...props} kind={kind} aria-label={label} className={classNames(styles.icon, className)} />
    </Tooltip>
  )
}

function PlainButton({ kind, size, isWide, icon, isPending, refusal, children, ...props }: ButtonProps) {
  const isOff = Boolean(isPending || refusal)
  return (
    <button
      type="button"
      {...props}
      className={classNames(lookOf({ kind, size, isWide }), props.className)}
      aria-disabled={isOff || undefined}
      aria-busy={isPending || undefined}
      {...(isOff ? { onClick: event => event.preventDefault() } : {})}
    >
      {icon}
      {children}
    </button>
  )
}

type ButtonLinkProps = Look &
  Pick<ButtonProps, 'refusal'> &
  Pick<ComponentProps<'a'>, 'children' | 'aria-keyshortcuts'> & { to: string; onClick?: () => void }

/** A link that looks like a button. With a refusal it becomes a disabled button. */
export function ButtonLink({ kind, size, isWide, icon, refusal, children, ...link }: ButtonLinkProps) {
  if (refusal) return <Button {...{ kind, size, isWide, icon, refusal, children }} />
  return (
    <RouterLink {...link} className={lookOf({ kind, size, isWide })}>
      {icon}
      {children}
    </RouterLink>
  )
}

export function Link(props: ComponentProps<typeof RouterLink>) {
  return <RouterLink {...props} className={classNames(styles.link, props.className)} />
}
