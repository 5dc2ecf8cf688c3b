//! Recording commands: launches and copies are submitted together, when there are many, when the host waits for them, and
//! before the host writes to buffers that they read.

/// With this many commands recorded, they are submitted, so that the device starts while the host goes on recording.
const MOST: u32 = 32;

/// The size in bytes of a page of parameters, which has room for several times as many launches.
const PAGE: u64 = 1 << 16;

/// The alignment of parameters: no device requires more.
const ALIGNMENT: u64 = 256;

/// Commands that are recorded but not submitted. A pass has to be dropped before its encoder is finished.
#[derive(Default)]
pub(crate) struct Commands {
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    count: u32,
    page: Option<Page>,
}

/// A buffer for the parameters of successive launches.
struct Page {
    buffer: wgpu::Buffer,
    /// The number of bytes that have been written to the device.
    written: u64,
    /// The bytes after those, which have not.
    waiting: Vec<u8>,
}

impl Commands {
    /// Reserves a place for the parameters of a launch.
    pub(crate) fn parameters(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        words: &[u32],
    ) -> (wgpu::Buffer, u64) {
        let nbytes = size_of_val(words) as u64;
        if self.page.as_ref().is_some_and(|page| page.start() + nbytes > page.buffer.size()) {
            self.submit(queue);
            self.page = None;
        }
        let page = self.page.get_or_insert_with(|| Page::new(device, nbytes));
        let start = page.start();
        page.waiting.resize((start - page.written) as usize, 0);
        page.waiting.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        (page.buffer.clone(), start)
    }

    /// Records a launch.
    pub(crate) fn launch(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) {
        if self.pass.is_none() {
            let encoder =
                self.encoder.get_or_insert_with(|| device.create_command_encoder(&Default::default()));
            self.pass = Some(encoder.begin_compute_pass(&Default::default()).forget_lifetime());
        }
        if let Some(pass) = &mut self.pass {
            record(pass);
        }
        self.counted(queue);
    }

    /// Records commands that are not launches.
    pub(crate) fn record(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) {
        self.pass = None;
        record(self.encoder.get_or_insert_with(|| device.create_command_encoder(&Default::default())));
        self.counted(queue);
    }

    fn counted(&mut self, queue: &wgpu::Queue) {
        self.count += 1;
        if self.count >= MOST {
            self.submit(queue);
        }
    }

    /// Submits all recorded commands to the device.
    pub(crate) fn submit(&mut self, queue: &wgpu::Queue) {
        self.pass = None;
        self.count = 0;
        let Some(encoder) = self.encoder.take() else { return };
        if let Some(Page { buffer, written, waiting }) = &mut self.page
            && !waiting.is_empty()
        {
            queue.write_buffer(buffer, *written, waiting);
            *written += waiting.len() as u64;
            waiting.clear();
        }
        queue.submit([encoder.finish()]);
    }
}

impl Page {
    fn new(device: &wgpu::Device, nbytes: u64) -> Page {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("parameters"),
            size: PAGE.max(nbytes),
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Page { buffer, written: 0, waiting: Vec::new() }
    }

    /// The offset of the next parameters.
    fn start(&self) -> u64 {
        (self.written + self.waiting.len() as u64).next_multiple_of(ALIGNMENT)
    }
}
