import Foundation

/// A value that a cache keeps. A cache that cannot be opened now, as while the device is locked, is left as it is and read later.
struct KeptValue<Value: Codable> {
    /// What a cache has.
    enum Content {
        case nothing
        case value(Value)
        /// Something else than the value.
        case unreadable
        /// It cannot be opened.
        case closed(any Error)
    }

    private let cache: any StatusCache
    /// Whether it could not be opened when it was read last, so that nothing is saved over what it holds.
    private(set) var isClosed = false

    init(_ cache: any StatusCache) { self.cache = cache }

    /// Reads the cache.
    mutating func load() -> Content {
        do {
            let data = try cache.load()
            isClosed = false
            guard let data else { return .nothing }
            return (try? JSONDecoder().decode(Value.self, from: data)).map { .value($0) } ?? .unreadable
        } catch {
            isClosed = true
            return .closed(error)
        }
    }

    /// Saves a value, where that takes nothing from the cache that was not read.
    func save(_ value: Value) throws {
        if !isClosed { try cache.save(JSONEncoder().encode(value)) }
    }

    /// Removes what the cache has.
    mutating func remove() throws {
        isClosed = false
        try cache.remove()
    }
}
