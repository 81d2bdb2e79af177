import CLibFuzzer

/// libFuzzer over one of the readers that strangers' bytes reach: `storehook-fuzz READER [libFuzzer's arguments]`.
///
/// A finding is a trap, a read out of bounds, a unit over its time or memory, or a broken promise of a reader.
@main
struct StorehookFuzz {
    static func main() {
        var arguments = CommandLine.arguments
        guard arguments.count > 1, let reader = Reader(rawValue: arguments.remove(at: 1)) else {
            let names = Reader.allCases.map(\.rawValue).joined(separator: "|")
            fatalError("usage: storehook-fuzz \(names) [libFuzzer's arguments]")
        }
        // libFuzzer keeps the vector, and the callback is a C function that can carry no context: both live on.
        var count = CInt(arguments.count)
        let vector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
        vector.initialize(repeating: nil, count: arguments.count + 1)
        for (index, argument) in arguments.enumerated() { vector[index] = duplicate(argument) }
        var argumentVector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = vector
        let status =
            switch reader {
            case .jws: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.jws.run($0, $1) }
            case .chain: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.chain.run($0, $1) }
            case .payload: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.payload.run($0, $1) }
            case .body: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.body.run($0, $1) }
            case .receipt: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.receipt.run($0, $1) }
            case .ocsp: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.ocsp.run($0, $1) }
            case .head: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.head.run($0, $1) }
            case .chunks: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.chunks.run($0, $1) }
            }
        guard status == 0 else { fatalError("libFuzzer ended with \(status)") }
    }

    private static func duplicate(_ text: String) -> UnsafeMutablePointer<CChar> {
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        return copy
    }
}
