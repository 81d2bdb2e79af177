public import Foundation

extension UUID {
    /// Apple's UUID as Foundation's, which is what PostgreSQL's `uuid` is bound as.
    public init(_ identifier: UniqueIdentifier) {
        var bytes = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: identifier.high.bigEndian, toByteOffset: 0, as: UInt64.self)
            $0.storeBytes(of: identifier.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }
}

extension UniqueIdentifier {
    /// A stored appAccountToken; nil where none is stored, or the nil UUID. See ``accountToken``.
    package init?(accountToken uuid: UUID?) {
        guard let token = uuid.flatMap({ UniqueIdentifier($0).accountToken }) else { return nil }
        self = token
    }

    /// Foundation's UUID as Apple's.
    package init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) {
            UniqueIdentifier(
                high: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
