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
	type object struct {
		ID  string  `json:"id"`
		Key *string `json:"key"`
	}
	found, err := find(ctx, c, path, func(one object) bool {
		return one.ID == idOrKey || (one.Key != nil && *one.Key == idOrKey)
	})
	if found == nil {
		return "", err
	}
	return found.ID, err
}

// FindSecret returns a secret by its name; nil when there is none.
func (c *Client) FindSecret(ctx context.Context, name string) (*Secret, error) {
	return find(ctx, c, Secrets, func(one Secret) bool { return one.Name == name })
}

func find[T any](ctx context.Context, c *Client, path string, is func(T) bool) (*T, error) {
	for cursor := ""; ; {
		var page struct {
			Data       []T     `json:"data"`
			NextCursor *string `json:"next_cursor"`
		}
		if err := c.Get(ctx, path+query(path, cursor), &page); err != nil {
			return nil, err
		}
		for i := range page.Data {
			if is(page.Data[i]) {
				return &page.Data[i], nil
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
