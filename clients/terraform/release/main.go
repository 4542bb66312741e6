// Makes the archives of a release: `go run ./release -out <folder> -version 0.2.0`. The same sources and the same version of
// Go give the same bytes.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const allPlatforms = "darwin/amd64 darwin/arm64 linux/amd64 linux/arm64 windows/amd64 windows/arm64"

func main() {
	out := flag.String("out", "archives", "the folder of the archives")
	version := flag.String("version", "", "the version, such as 0.2.0")
	platforms := flag.String("platforms", allPlatforms, `the platforms, or "host" for this one`)
	flag.Parse()
	if err := release(*out, *version, *platforms); err != nil {
		log.Fatal(err)
	}
}

func release(out, version, platforms string) error {
	if platforms == "host" {
		platforms = runtime.GOOS + "/" + runtime.GOARCH
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	prefix := filepath.Join(out, "terraform-provider-belfry_"+version+"_")
	var sums strings.Builder
	for _, platform := range strings.Fields(platforms) {
		goos, goarch, _ := strings.Cut(platform, "/")
		name := "terraform-provider-belfry_v" + version
		if goos == "windows" {
			name += ".exe"
		}
		program, err := build(version, goos, goarch)
		if err != nil {
			return err
		}
		archive := prefix + goos + "_" + goarch + ".zip"
		if err := pack(archive, name, program); err != nil {
			return err
		}
		content, err := os.ReadFile(archive)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), filepath.Base(archive))
	}
	return os.WriteFile(prefix+"SHA256SUMS", []byte(sums.String()), 0o644)
}

// build compiles the provider, and returns the program.
func build(version, goos, goarch string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "belfry-provider-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "program")
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X main.version="+version, "-o", path, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// pack writes an archive of one program, with a fixed time.
func pack(path, name string, program []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(0o755)
	entry, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	if _, err := entry.Write(program); err != nil {
		return err
	}
	return archive.Close()
}
