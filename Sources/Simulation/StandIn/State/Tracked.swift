/// A dictionary that knows which of its keys were written since somebody last asked.
struct Tracked<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private(set) var all: [Key: Value] = [:]
    private var written: Set<Key> = []

    var count: Int { all.count }
    var keys: Dictionary<Key, Value>.Keys { all.keys }
    var values: Dictionary<Key, Value>.Values { all.values }

    subscript(key: Key) -> Value? {
        get { all[key] }
        set {
            all[key] = newValue
            written.insert(key)
        }
    }

    /// The keys written since the last time.
    mutating func takeWritten() -> Set<Key> {
        // Room for a busy moment is not kept.
        defer { written = [] }
        return written
    }
}
