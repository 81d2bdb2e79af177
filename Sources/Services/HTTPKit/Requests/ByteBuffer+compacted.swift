import NIOCore

extension ByteBuffer {
    /// The same bytes in a buffer of their size, where they would keep a far larger one.
    ///
    /// What is held is counted in bytes; so what it costs is twice as much at most, however it was sent.
    func compacted(_ allocator: ByteBufferAllocator) -> ByteBuffer {
        guard readableBytes < storageCapacity / 2 else { return self }
        var copy = allocator.buffer(capacity: readableBytes)
        copy.writeImmutableBuffer(self)
        return copy
    }
}
