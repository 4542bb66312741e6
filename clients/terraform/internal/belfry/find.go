package belfry

import (
	"context"
	"net/url"
	"strings"
)

// The paths of the objects of a workspace.
const (
	CronJobs      = "/api/v1/scheduler/cronjobs"
	Subscriptions = "/api/v1/scheduler/subscriptions"
	Queues        = "/api/v1/scheduler/queues"
	Integrations  = CurrentWorkspace + "/integrations"
	Secrets       = CurrentWorkspace + "/secrets"
	// CurrentWorkspace is the workspace of the key.
	CurrentWorkspace = "/api/v1/workspaces/current"
)

// At returns the path of an object.
func At(path, name string) string {
	return path + "/" + url.PathEscape(name)
}

// FindID returns the id of the object with an id or a key, and an empty text when there is none.
func (c *Client) FindID(ctx context.Context, path, idOrKey string) (string, error) {
	found, err := find(ctx, c, path, func(one Object) bool {
		return one.Is("id", idOrKey) || one.Is("key", idOrKey)
	})
	if id := found.Text("id"); id != nil {
		return *id, err
	}
	return "", err
}

// FindSecret returns a secret by its name; nil when there is none.
func (c *Client) FindSecret(ctx context.Context, name string) (Object, error) {
	return find(ctx, c, Secrets, func(one Object) bool { return one.Is("name", name) })
}

func find(ctx context.Context, c *Client, path string, is func(Object) bool) (Object, error) {
	for cursor := ""; ; {
		var page struct {
			Data       []Object `json:"data"`
			NextCursor *string  `json:"next_cursor"`
		}
		if err := c.Get(ctx, path+query(path, cursor), &page); err != nil {
			return nil, err
		}
		for _, one := range page.Data {
			if is(one) {
				return one, nil
			}
		}
		if page.NextCursor == nil {
			return nil, nil
		}
		cursor = *page.NextCursor
	}
}

// The list of integrations is one page, and takes no limit.
func query(path, cursor string) string {
	if strings.HasSuffix(path, "/integrations") {
		return ""
	}
	values := url.Values{"limit": {"100"}}
	if cursor != "" {
		values.Set("cursor", cursor)
	}
	return "?" + values.Encode()
}
