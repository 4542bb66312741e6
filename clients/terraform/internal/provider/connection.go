package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"terraform-provider-belfry/internal/belfry"
)

// connection is the part of a resource that calls the API.
type connection struct {
	client *belfry.Client
}

// Configure is called without data before the provider is configured.
func (c *connection) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	c.client, _ = req.ProviderData.(*belfry.Client)
}

// dataConnection is the part of a data source that calls the API.
type dataConnection struct {
	client *belfry.Client
}

func (c *dataConnection) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	c.client, _ = req.ProviderData.(*belfry.Client)
}

// create creates an object with a key. When the answer of an earlier attempt was lost and the key is in use now, that attempt
// has created the object, which the fields of the body then update.
func (c *connection) create(ctx context.Context, collection string, body map[string]any, out any) error {
	key, hasKey := body["key"].(string)
	// The API accepts an Idempotency-Key for cron jobs. A key refuses a second object of another kind.
	err := c.client.Create(ctx, collection, body, out, hasKey || collection == belfry.CronJobs)
	if !hasKey || !isOwnKeyInUse(err) {
		return err
	}
	id, findErr := c.client.FindID(ctx, collection, key)
	if findErr != nil || id == "" {
		return err
	}
	change := make(map[string]any, len(body))
	for name, value := range body {
		if name != "channel" { // cannot change
			change[name] = value
		}
	}
	return c.client.Patch(ctx, belfry.At(collection, id), change, out)
}

// importByIDOrKey sets the id of the object that has the given id or key. A read fills in all other attributes.
func (c *connection) importByIDOrKey(
	ctx context.Context, collection, kind string, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	id, err := c.client.FindID(ctx, collection, req.ID)
	if err != nil {
		report(&resp.Diagnostics, kind, err, nil)
		return
	}
	if id == "" {
		resp.Diagnostics.AddError("No such "+kind, "The workspace has no "+kind+" with the id or key "+req.ID+".")
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
}

// read reads the object that a state describes. When it is gone, the state forgets it; ok says whether it was read.
func read(
	ctx context.Context, client *belfry.Client, path, kind string, resp *resource.ReadResponse,
) (found belfry.Object, ok bool) {
	err := client.Get(ctx, path, &found)
	if belfry.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return found, false
	}
	if err != nil {
		report(&resp.Diagnostics, kind, err, nil)
		return found, false
	}
	return found, true
}

// delete deletes the object that the given attribute of the state identifies.
func (c *connection) delete(
	ctx context.Context, collection, attribute, kind string, req resource.DeleteRequest, resp *resource.DeleteResponse,
) {
	var name string
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root(attribute), &name)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := c.client.Delete(ctx, belfry.At(collection, name)); err != nil {
		report(&resp.Diagnostics, kind, err, nil)
	}
}
