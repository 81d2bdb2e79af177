import CLibFuzzer
import FuzzedReaders
import Glibc

/// libFuzzer over one of the readers that strangers' bytes reach: `STOREHOOK_FUZZ_READER=… storehook-fuzz [libFuzzer's arguments]`.
///
/// The environment names the reader, because libFuzzer starts this program again by itself, without arguments that are not its own.
///
/// A finding is a trap, a read out of bounds, a unit over its time or memory, or a broken promise of a reader.
@main
struct StorehookFuzz {
    static func main() {
        guard let reader = getenv("STOREHOOK_FUZZ_READER").flatMap({ Reader(rawValue: String(cString: $0)) }) else {
            let names = Reader.allCases.map(\.rawValue).joined(separator: ", ")
            fatalError("STOREHOOK_FUZZ_READER is one of \(names)")
        }
        let arguments = CommandLine.arguments
        // libFuzzer keeps the vector, and the callback is a C function that can carry no context: both live on.
        var count = CInt(arguments.count)
        let vector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
        vector.initialize(repeating: nil, count: arguments.count + 1)
        for (index, argument) in arguments.enumerated() { vector[index] = duplicate(argument) }
        var argumentVector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = vector
        let status =
            switch reader {
            case .jws: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.jws.read($0, $1) }
            case .chain: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.chain.read($0, $1) }
            case .payload: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.payload.read($0, $1) }
            case .body: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.body.read($0, $1) }
            case .receipt: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.receipt.read($0, $1) }
            case .ocsp: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.ocsp.read($0, $1) }
            case .head: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.head.read($0, $1) }
            case .chunks: LLVMFuzzerRunDriver(&count, &argumentVector) { Reader.chunks.read($0, $1) }
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

extension Reader {
    /// What libFuzzer calls; its answer is that the input is worth keeping.
    fileprivate func read(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        read(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }
}
