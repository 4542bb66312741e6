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

function lookOf({ kind = 'secondary', size, isWide }: Look, isIcon = false): string {
  return classNames(
    styles.button,
    styles[kind],
    size === 'small' && styles.small,
    isWide && styles.wide,
    isIcon && styles.icon,
  )
}

/** A button for an action. For navigation use `ButtonLink`. */
export function Button({ kind, size, isWide, icon, isPending, refusal, children, ...props }: ButtonProps): ReactNode {
  const isOff = Boolean(isPending || refusal)
  const button = (
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
  return refusal ? <Tooltip text={refusal}>{button}</Tooltip> : button
}

export type IconButtonProps = Omit<ButtonProps, 'icon' | 'children'> & { label: string; icon: ReactNode }

/** A button with only an icon. `label` is its accessible name and its tooltip. */
export function IconButton({
  label,
  icon,
  kind = 'quiet',
  size,
  isWide,
  isPending,
  refusal,
  ...props
}: IconButtonProps): ReactNode {
  const isOff = Boolean(isPending || refusal)
  return (
    <Tooltip text={refusal ?? label}>
      <button
        type="button"
        {...props}
        aria-label={label}
        className={classNames(lookOf({ kind, size, isWide }, true), props.className)}
        aria-disabled={isOff || undefined}
        {...(isOff ? { onClick: event => event.preventDefault() } : {})}
      >
        {icon}
      </button>
    </Tooltip>
  )
}

type ButtonLinkProps = Look & {
  to: string
  children: ReactNode
  refusal?: string | null | undefined
  onClick?: (() => void) | undefined
  'aria-keyshortcuts'?: string
}

/** A link that looks like a button. With a refusal it becomes a disabled button. */
export function ButtonLink({ kind, size, isWide, icon, refusal, children, ...link }: ButtonLinkProps): ReactNode {
  if (refusal) {
    return (
      <Button kind={kind} size={size} isWide={isWide} icon={icon} refusal={refusal}>
        {children}
      </Button>
    )
  }
  return (
    <RouterLink {...link} className={lookOf({ kind, size, isWide })}>
      {icon}
      {children}
    </RouterLink>
  )
}

/** A link within text. */
export function Link(props: ComponentProps<typeof RouterLink>): ReactNode {
  return <RouterLink {...props} className={classNames(styles.link, props.className)} />
}
