import type { ReactNode } from 'react'
import { Link, NavLink, Outlet } from 'react-router'
import { Bell } from '../../layout/bell.tsx'
import { InShell } from '../../layout/error-page.tsx'
import { PagesButton } from '../../layout/pages-button.tsx'
import shell from '../../layout/shell.module.css'
import { UserMenu } from '../../layout/user-menu.tsx'
import { paths } from '../../paths.ts'

/** The frame of the pages for operators of the installation. */
export function Console(): ReactNode {
  return (
    <div className={shell.shell}>
      <a href="#main" className={shell.skip}>
        Skip to content
      </a>
      <Sidebar />
      <header className={shell.bar}>
        <PagesButton>
          <Sidebar />
        </PagesButton>
        <strong>Operator console</strong>
      </header>
      <main id="main" className={shell.main} tabIndex={-1}>
        <InShell value={true}>
          <Outlet />
        </InShell>
      </main>
    </div>
  )
}

function Sidebar(): ReactNode {
  return (
    <aside className={shell.sidebar} aria-label="Sidebar">
      <Link to="/" className={shell.console}>
        <Bell size={26} />
        Operator console
      </Link>
      <nav className={shell.nav} aria-label="Pages">
        <NavLink to={paths.admin.tenants()} end>
          Organizations
        </NavLink>
        <NavLink to={paths.admin.hosts()}>Hosts</NavLink>
        <NavLink to={paths.admin.mail()}>Blocked addresses</NavLink>
        <NavLink to={paths.admin.log()}>Operator log</NavLink>
        <a href="/admin/queues">Job queues</a>
      </nav>
      <div className={shell.foot}>
        <UserMenu />
      </div>
    </aside>
  )
}
