//! Files for checkpoints: written atomically, and read only if they are regular files, which have an end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use tempfile::NamedTempFile;
use torch_library::prelude::*;

/// Writes a file that gets its name once all of it is on the disk; until then a file of that name stays as it is.
///
/// It is written in the same folder under a temporary name of its own, so that several processes may write at once and
/// the last one wins. The temporary file is removed on every failure; only a process that is killed leaves it behind,
/// as `.NAME.….partial`.
pub(super) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    replace_on(&mut System, path, write)
}

/// The calls that bring a file to the disk. No test cuts the power; a test's implementation of this trait shows what
/// would be left.
trait Disk {
    /// Returns when the contents are on the disk.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Gives the file its name, replacing a file of that name.
    fn rename(&mut self, partial: NamedTempFile, path: &Path) -> io::Result<()>;
    /// Returns when the names in a folder are on the disk, on systems that can do that.
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
}

struct System;

impl Disk for System {
    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&mut self, partial: NamedTempFile, path: &Path) -> io::Result<()> {
        partial.persist(path).map(drop).map_err(|error| error.error)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

fn replace_on(
    disk: &mut impl Disk,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Io, format!("cannot write {}: {error}", path.display())).with_source(error)
    };
    if let Ok(there) = fs::metadata(path) {
        // A rename would replace a device or a folder by the file.
        ensure!(there.is_file(), Io, "cannot write {}: it exists and is not a file", path.display());
    }
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
        bail!(Io, "cannot write {}: the path does not name a file", path.display());
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut partial = beside(folder, &format!(".{}.", name.to_string_lossy())).map_err(failed)?;
    write(partial.as_file_mut()).map_err(failed)?;
    // The contents before the name, so that a power failure cannot leave a name without contents.
    disk.sync(partial.as_file()).map_err(failed)?;
    disk.rename(partial, path).map_err(failed)?;
    disk.sync_folder(folder).map_err(failed)
}

/// A temporary file with a unique name, which is removed when it is dropped.
fn beside(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file, which the umask limits; by default only the owner may read temporary files.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// A file to read, and its length. A device or a pipe is refused, since without an end it would be read until memory is
/// full.
pub(super) fn open(path: &Path) -> Result<(impl Read, u64)> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Io, format!("cannot read {}: {error}", path.display())).with_source(error)
    };
    let there = fs::metadata(path).map_err(failed)?;
    ensure!(there.is_file(), Io, "cannot read {}: it is not a file", path.display());
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    Ok((file.take(len), len))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A folder with a file that has an old text, and the error of `replace` without the folder's name.
    fn refusal(write: impl FnOnce(&Path, &mut File) -> io::Result<()>) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let error = replace(&path, |file| write(&path, file)).unwrap_err().to_string();
        let error = error.replace(folder.path().to_str().unwrap(), "FOLDER");
        (folder, error)
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_beside_it() {
        let (folder, error) = refusal(|_, file| {
            file.write_all(b"ne")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(error, "cannot write FOLDER/file: the disk is full");
        assert_eq!(names(folder.path()), ["file"]);
        assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "old");
    }

    #[test]
    fn a_rename_that_fails_leaves_nothing_beside_the_file() {
        let (folder, error) = refusal(|path, file| {
            fs::remove_file(path)?;
            fs::create_dir(path)?;
            fs::write(path.join("inside"), "old")?;
            file.write_all(b"new")
        });
        assert!(error.starts_with("cannot write FOLDER/file: "), "{error}");
        assert_eq!(names(folder.path()), ["file"]);
        assert_eq!(names(&folder.path().join("file")), ["inside"]);
    }

    #[test]
    fn a_folder_that_goes_away_meanwhile_is_an_error() {
        let (folder, error) = refusal(|path, file| {
            file.write_all(b"new")?;
            fs::remove_dir_all(path.parent().expect("it lies in a folder"))
        });
        assert!(error.starts_with("cannot write FOLDER/file: "), "{error}");
        assert!(!folder.path().exists());
    }

    #[test]
    fn the_name_is_the_old_files_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let read_old = |file: &mut File| {
            file.write_all(b"new")?;
            assert_eq!(fs::read_to_string(&path)?, "old");
            let [ours, theirs] = &names(folder.path())[..] else { panic!("{:?}", names(folder.path())) };
            assert!(ours.starts_with(".file.") && ours.ends_with(".partial") && theirs == "file", "{ours}");
            Ok(())
        };
        replace(&path, read_old).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
    }

    /// The system's disk, which logs the calls, and may fail at one of them.
    #[derive(Default)]
    struct Watched {
        steps: Vec<String>,
        fails_at: Option<usize>,
    }

    impl Watched {
        fn step(&mut self, step: String) -> io::Result<()> {
            self.steps.push(step);
            match self.fails_at {
                Some(at) if at + 1 == self.steps.len() => Err(io::Error::other("the disk is broken")),
                _ => Ok(()),
            }
        }
    }

    impl Disk for Watched {
        fn sync(&mut self, file: &File) -> io::Result<()> {
            self.step(format!("sync {} bytes", file.metadata()?.len()))?;
            System.sync(file)
        }

        fn rename(&mut self, partial: NamedTempFile, path: &Path) -> io::Result<()> {
            self.step(format!("rename to {}", path.file_name().unwrap().display()))?;
            System.rename(partial, path)
        }

        fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
            self.step(format!("sync {:?}", names(folder)))?;
            System.sync_folder(folder)
        }
    }

    #[test]
    fn elements_are_on_the_disk_before_the_name_and_the_name_before_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Watched::default();
        replace_on(&mut disk, &folder.path().join("file"), |file| file.write_all(b"new")).unwrap();
        assert_eq!(disk.steps, ["sync 3 bytes", "rename to file", "sync [\"file\"]"]);
    }

    #[test]
    fn a_disk_that_fails_at_any_step_is_an_error_and_leaves_one_whole_file() {
        for (fails_at, left) in [(0, "old"), (1, "old"), (2, "new")] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs::write(&path, "old").unwrap();
            let mut disk = Watched { fails_at: Some(fails_at), ..Watched::default() };
            let error = replace_on(&mut disk, &path, |file| file.write_all(b"new")).unwrap_err().to_string();
            assert_eq!(error, format!("cannot write {}: the disk is broken", path.display()));
            assert_eq!((disk.steps.len(), names(folder.path())), (fails_at + 1, vec!["file".to_owned()]));
            assert_eq!(fs::read_to_string(&path).unwrap(), left);
        }
    }

    /// Linux refuses to sync a file that is not on a disk, so the refusal shows that it was asked to.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_is_asked_to_sync() {
        let null = File::open("/dev/null").unwrap();
        assert_eq!(System.sync(&null).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let error = System.sync_folder(Path::new("/proc")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_as_readable_as_any_other() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| folder.path().join(name));
        replace(&ours, |file| file.write_all(b"new")).unwrap();
        fs::write(&other, "new").unwrap();
        let [ours, other] = [ours, other].map(|path| fs::metadata(path).unwrap().permissions().mode());
        assert_eq!(ours, other);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_neither_written_nor_read() {
        let device = Path::new("/dev/zero");
        let error = replace(device, |_| unreachable!("nothing is written")).unwrap_err().to_string();
        assert_eq!(error, "cannot write /dev/zero: it exists and is not a file");
        assert_eq!(
            open(device).map(drop).unwrap_err().to_string(),
            "cannot read /dev/zero: it is not a file"
        );
    }
}
