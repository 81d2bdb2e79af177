import NIOCore

extension ByteBuffer {
    /// A copy of the bytes in a buffer of their size, where theirs is far larger.
    ///
    /// Held requests are counted in bytes; so their real cost is at most twice as much, however they were sent.
    func compacted(_ allocator: ByteBufferAllocator) -> ByteBuffer {
        guard readableBytes < storageCapacity / 2 else { return self }
        var copy = allocator.buffer(capacity: readableBytes)
        copy.writeImmutableBuffer(self)
        return copy
    }
}
